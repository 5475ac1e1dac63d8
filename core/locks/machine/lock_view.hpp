// What a reader learns about a name: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"
#include "core/locks/kinds/kinds.hpp"
#include "core/locks/name_extras.hpp"
#include "core/locks/table/holder.hpp"

namespace mortise::core {

// Ended sessions are left out, whether they are swept or not.
struct LockView {
    struct Waiting {
        OperationId operation;
        LockMode mode = LockMode::exclusive;
        LogIndex since;
        std::string label;
        Priority priority = 0;
        Seq upgrades{};  // for an upgrade, the hold of the same session; otherwise not set
        LockerTag locker{};
        bool is_try = false;        // it waits for cached grants, and is given up soon (S43)
        std::uint32_t permits = 0;  // of a semaphore
        friend bool operator==(const Waiting&, const Waiting&) = default;
    };
    // A reason why the name is closed; the former holders with the same token and kind are one.
    struct Closing {
        Closure::Kind kind = Closure::Kind::broken;
        FencingToken token;
        std::vector<ClosureId> closures{};
        // The longest time that may be left. The node that counts it down fills it in; it is not
        // replicated state.
        std::optional<Nanoseconds> left{};
        friend bool operator==(const Closing& a, const Closing& b) {
            return a.kind == b.kind && a.token == b.token;
        }
    };
    std::string name;
    QueuePolicy policy = QueuePolicy::phase_fair;
    std::vector<Grant> holders;         // oldest first
    std::vector<Waiting> waiters;       // an upgrade first (S28), the others in log order
    std::size_t holders_total = 0;      // including those that are left out of `holders`
    std::size_t waiters_total = 0;      // the same for `waiters`
    std::map<SessionId, NodeId> nodes;  // the nodes of the sessions that are named here
    std::optional<LockValue> value{};   // without its bytes in listings
    bool is_closed = false;             // a former holder keeps it closed (S8, S9, S24)
    FencingToken closed_under{};        // if closed: the newest token among those, which reopens it
    std::vector<Closing> closings{};    // if closed: the newest token first
    std::size_t closings_total = 0;     // including those that are left out of `closings`
    KindViews kinds{};                  // what it is besides a lock
    template <class State>
    [[nodiscard]] const typename State::View* as() const {  // null if it is of another kind
        const auto& found = std::get<std::optional<typename State::View>>(kinds);
        return found ? &*found : nullptr;
    }
    template <class View>
    void become(View view) {
        std::get<std::optional<View>>(kinds) = std::move(view);
    }
    [[nodiscard]] bool is_lock() const { return kinds == KindViews{}; }
    // How long the leases of the holders' sessions run if they are not renewed again. The node that
    // counts them down fills it in.
    std::map<SessionId, Nanoseconds> leases_left{};
    std::map<SessionId, Origin> origins{};  // of those of the sessions above that have one
    // How long ago the entries of the grants and requests above were proposed (`since`), those that
    // have a time. The answering node fills it in.
    std::map<LogIndex, Nanoseconds> ages{};
    [[nodiscard]] std::optional<Nanoseconds> age_of(LogIndex since) const {
        const auto found = ages.find(since);
        return found == ages.end() ? std::nullopt : std::optional{found->second};
    }
    // Null if it is unknown.
    [[nodiscard]] const Origin* origin_of(SessionId session) const {
        const auto found = origins.find(session);
        return found == origins.end() ? nullptr : &found->second;
    }
    friend bool operator==(const LockView&, const LockView&) = default;
};

// The waiters for what an operation holds of a name: the mode of the first waiter that conflicts
// with it, and the number of waiters there.
struct Contention {
    LockMode mode = LockMode::exclusive;
    std::size_t waiters = 0;
};
// Has an element for each hold of a name for which a request waits.
using Contentions = std::vector<std::pair<OperationId, Contention>>;

}  // namespace mortise::core
