// The resource's side of fencing (S14). No lock service can stop a holder that was paused: only
// what it writes to can refuse it, by the token that each write carries (M. Kleppmann, "How to do
// distributed locking", 2016).
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <mortise/fencing_token.hpp>

namespace mortise {

// Remembers the newest token of every resource, durably, and refuses older ones. For whoever guards
// something that cannot compare tokens itself; a database can, in one statement: `UPDATE ... SET
// ..., token = ? WHERE id = ? AND token <= ?`. Wants no Node and no cluster: it stands beside the
// resource, in the one process through which all writes to it go.
//
// Resources are named as their guard likes, by 1-4,096 bytes; a resource and each of its slots
// (S15) have marks of their own.
//
// All members may be called from several threads at once, but for moving and destroying. They block
// for the disk when a token is newer than the last one: one sync, which raises of other resources
// share. They throw std::system_error with a DirectoryErrc for the disk, which is final: what is
// durable then, only opening again tells. DirectoryErrc::shortage is not: the effect did not run,
// and the gate works again once there are descriptors. After DirectoryErrc::closed, for which the
// program itself closed descriptors of the gate, nothing is written any more. And with an Errc:
// invalid_argument for a resource's name and for a gate that was moved from, forked in the child of
// a fork.
class FenceGate {
public:
    // In a directory of its own, made when there is none; its parent must exist. Locked as long as
    // the gate lives. Throws std::system_error with a DirectoryErrc.
    [[nodiscard]] static FenceGate open(const std::filesystem::path& directory);

    FenceGate(FenceGate&& other) noexcept;
    FenceGate& operator=(FenceGate&& other) noexcept;
    // Requires that no member is running.
    ~FenceGate();

    // Runs `effect` unless a newer token was seen; false when one was, and for a token that is none
    // or negative. The check and the effect are one critical section: meanwhile nobody is admitted
    // to this resource, so no newer holder can come in between. The mark is durable before the
    // effect begins: whatever it leaves behind in a crash, an older holder cannot touch it.
    //
    // Blocks while another effect of the resource runs. What `effect` throws is let out; the mark
    // stays. `effect` may use the gate for other resources, and other gates; for its own it is
    // Errc::deadlock. So it is for the one that closes a circle of effects, each of which wants
    // the next one's resource, in whichever gates of this process: its call inside `effect` throws.
    template <std::invocable Effect>
    bool admit(std::string_view resource, FencingToken token, Effect&& effect) {
        const auto body = [&effect] { std::invoke(std::forward<Effect>(effect)); };
        return run(resource, nullptr, token, &body, run_body<decltype(body)>);
    }
    // For the holder of one permit of several.
    template <std::invocable Effect>
    bool admit(std::string_view resource, std::uint32_t slot, FencingToken token, Effect&& effect) {
        const auto body = [&effect] { std::invoke(std::forward<Effect>(effect)); };
        return run(resource, &slot, token, &body, run_body<decltype(body)>);
    }

    // The same without an effect: tells whether the token was the newest when it looked, and raises
    // the mark. Between its answer and what is done for it a newer holder may come and go. So it is
    // enough only where that does no harm: to turn stale work away early, or before an effect that
    // compares the token itself.
    [[nodiscard]] bool check(std::string_view resource, FencingToken token);
    [[nodiscard]] bool check(std::string_view resource, std::uint32_t slot, FencingToken token);

private:
    class Impl;
    using Call = void (*)(const void*);

    template <class Body>
    static void run_body(const void* body) {
        (*static_cast<const Body*>(body))();
    }

    explicit FenceGate(std::unique_ptr<Impl> impl) noexcept;
    bool run(std::string_view resource, const std::uint32_t* slot, FencingToken token,
             const void* body, Call call);

    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise
