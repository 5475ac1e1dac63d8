// What a Locker stands for: per name one grant of the cluster, and the holds that share it (S22).
// What it has of several names at once (S32) is a hold by itself, which is shared with no other.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "embed/call_gate.hpp"
#include "embed/fork_generation.hpp"
#include "embed/giving_back.hpp"
#include "embed/hold_record.hpp"
#include <mortise/options.hpp>

namespace mortise::detail {

// Thread-safe. A release is submitted while the table is locked: so the next acquire of the name,
// which another thread may begin at once, comes behind it.
class LockerState : public std::enable_shared_from_this<LockerState> {
public:
    // How many holds may share a grant.
    static constexpr std::size_t nesting_max = 1024;

    LockerState(std::shared_ptr<CallGate> gate, std::string label);

    static std::shared_ptr<LockerState> of(const Locker& locker) { return locker.state_; }
    static Locker locker(std::shared_ptr<LockerState> state) { return Locker{std::move(state)}; }

    [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return gate_; }
    // As the cluster knows it, among those of this node's sessions.
    [[nodiscard]] core::LockerTag tag() const { return {number_, label_}; }

    struct Turn {
        Hold nested;
        std::error_code error;
        // Neither hold nor error: the cluster is to be asked, and ended() told what came of it.
        [[nodiscard]] bool asks() const { return !error && !nested; }
    };
    [[nodiscard]] Turn begin(const std::string& name, LockMode mode);
    // What the caller gets for what the cluster granted; empty for an empty hold.
    [[nodiscard]] Hold ended(const std::string& name, Hold granted);

    // Of several names at once: one more of its holds. Throws std::bad_alloc.
    void add(const Hold& granted);

    // Lowers the mode of the grant of that hold: from now on it is shared in no stronger one.
    // False, and nothing happens, unless nobody else shares it (S22).
    [[nodiscard]] bool lower(const HoldRecord& hold, LockMode mode);
    [[nodiscard]] bool is_alone(const HoldRecord& hold) const;

    // The owner of one of its holds let go of it, lost or not.
    GivenBack leave(const HoldRecord& hold, core::CallTag tag,
                    std::shared_ptr<Completion> waiting) noexcept;
    [[nodiscard]] std::size_t hold_count() const;
    struct Released {
        std::vector<std::shared_ptr<WaitingThread>> asked;  // to be waited for
        bool more = false;  // for want of memory there is no waiting for some
    };
    // Whatever it holds, lost or not; requests under way go on.
    [[nodiscard]] Released release_all() noexcept;

private:
    struct Name {
        std::shared_ptr<HoldRecord> grant;  // null: the cluster is being asked
        std::size_t holds = 0;
    };

    [[nodiscard]] Hold share(Name& name, LockMode mode);
    static void release(HoldRecord& grant, Released& released) noexcept;
    [[nodiscard]] bool is_only_one(const HoldRecord& hold) const;

    const ForkGeneration generation_;  // in a child nothing here is touched
    const std::shared_ptr<CallGate> gate_;
    const std::string label_;
    const std::uint64_t number_;
    mutable std::mutex mutex_;
    std::map<std::string, Name, std::less<>> names_;
    std::vector<std::weak_ptr<HoldRecord>> together_;
};

}  // namespace mortise::detail
