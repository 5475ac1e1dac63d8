// The state of a Locker: for each name one grant of the cluster and the holds that share it (S22).
// A hold of several names (S32) stands alone and is not shared.
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

#include "embed/holds/hold_record.hpp"
#include "embed/holds/release.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/fork_generation.hpp"
#include <mortise/options.hpp>

namespace mortise::detail {

// Thread-safe. A release is submitted under the lock of the table, so the next acquire of the name,
// which another thread may begin at once, comes after it.
class LockerState : public std::enable_shared_from_this<LockerState> {
public:
    // How many holds may share a grant.
    static constexpr std::size_t nesting_max = 1024;

    LockerState(std::shared_ptr<CallGate> gate, std::string label);

    static std::shared_ptr<LockerState> of(const Locker& locker) { return locker.state_; }
    static Locker locker(std::shared_ptr<LockerState> state) { return Locker{std::move(state)}; }

    [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return gate_; }
    // Its number in the cluster, unique among the lockers of this node's sessions.
    [[nodiscard]] core::LockerTag tag() const { return {number_, label_}; }

    // How an acquire begins: with a hold of this locker that it shares, if there is one.
    struct Nesting {
        Hold nested;
        std::error_code error;
        // True if there is neither a hold nor an error: the cluster must be asked, and ended()
        // called with the result.
        [[nodiscard]] bool asks() const { return !error && !nested; }
    };
    [[nodiscard]] Nesting begin(const std::string& name, LockMode mode);
    // The caller's hold for what the cluster granted; empty for an empty hold.
    [[nodiscard]] Hold ended(const std::string& name, Hold granted);

    // Adds a hold of several names. Throws std::bad_alloc.
    void add(const Hold& granted);

    // Lowers the mode of the hold's grant, which limits later shares. False, without an effect, if
    // others share the grant (S22).
    [[nodiscard]] bool lower(const HoldRecord& hold, LockMode mode);
    [[nodiscard]] bool is_alone(const HoldRecord& hold) const;

    // The owner of one of its holds releases it, lost or not.
    GivenBack leave(const HoldRecord& hold, core::CallTag tag,
                    std::shared_ptr<Completion> waiting) noexcept;
    [[nodiscard]] std::size_t hold_count() const;
    struct Released {
        std::vector<std::shared_ptr<WaitingThread>> asked;  // releases to wait for
        bool more = false;  // without memory some releases cannot be waited for
    };
    // Releases everything it holds, lost or not; acquires in progress continue.
    [[nodiscard]] Released release_all() noexcept;

private:
    struct Name {
        std::shared_ptr<HoldRecord> grant;  // null: the cluster is being asked
        std::size_t holds = 0;
    };

    [[nodiscard]] Hold share(Name& name, LockMode mode);
    static void release(const std::shared_ptr<HoldRecord>& grant, Released& released) noexcept;
    [[nodiscard]] bool is_only_one(const HoldRecord& hold) const;

    const ForkGeneration generation_;  // in a child nothing in this object may be used
    const std::shared_ptr<CallGate> gate_;
    const std::string label_;
    const std::uint64_t number_;
    mutable std::mutex mutex_;
    std::map<std::string, Name, std::less<>> names_;
    std::vector<std::weak_ptr<HoldRecord>> together_;
};

}  // namespace mortise::detail
