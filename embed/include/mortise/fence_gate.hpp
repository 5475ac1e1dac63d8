// The resource's side of fencing (S14). No lock service can stop a holder that was paused. Only the
// resource can refuse its writes, by the token that each write carries (M. Kleppmann, "How to do
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

// Remembers the newest token of each resource, durably, and refuses older ones. Use it for a
// resource that cannot compare tokens itself. A database can: `UPDATE ... SET ..., token = ? WHERE
// id = ? AND token <= ?`. The gate needs no Node and no cluster: it runs in the one process through
// which all writes to the resource go.
//
// The marks belong to one cluster. After `mortise recover` its tokens are greater than all before.
// A cluster that was formed anew, with empty directories, counts from 1 again, and the gate refuses
// all of them until its directory is removed (docs/backup.md, Tokens).
//
// A resource has any name of 1 to 4,096 bytes; the resource and each of its slots are compared
// separately. Slots are those of semaphores (S15): Hold::slots().
//
// Thread safety: all members may be called from several threads at once, except moving and
// destruction. Blocking: a token that is newer than the last one is synced to disk; concurrent
// calls for other resources share the sync.
//
// Errors: std::system_error with a DirectoryErrc or an Errc.
// - DirectoryErrc::shortage: the effect did not run; the gate works again once there are
//   descriptors.
// - DirectoryErrc::closed: the program itself closed descriptors of the gate; nothing is written
//   any more.
// - Any other DirectoryErrc is final: only opening the gate again shows what is durable.
// - Errc::invalid_argument: the resource's name is invalid, or the gate was moved from.
// - Errc::forked: called in the child of a fork.
class FenceGate {
public:
    // Opens a gate in a directory of its own, which is created if missing; its parent must exist.
    // The directory is locked as long as the gate lives. Throws std::system_error with a
    // DirectoryErrc.
    [[nodiscard]] static FenceGate open(const std::filesystem::path& directory);

    FenceGate(FenceGate&& other) noexcept;
    FenceGate& operator=(FenceGate&& other) noexcept;
    // No other member may be running.
    ~FenceGate();

    // Runs `effect` unless a newer token was seen. False if one was seen, and for a token that is
    // not positive. The check and the effect are one critical section: meanwhile no other effect of
    // this resource is admitted. The token is durable before the effect begins, so an older holder
    // is refused whatever a crash leaves behind.
    //
    // Blocks while another effect of the resource runs. Exceptions of `effect` are passed on; the
    // token stays recorded. `effect` may use the gate for other resources, and other gates. It
    // fails with Errc::deadlock if it uses its own resource, or if it would complete a cycle of
    // effects in this process each of which waits for the next one's resource.
    template <std::invocable Effect>
    bool admit(std::string_view resource, FencingToken token, Effect&& effect) {
        const auto body = [&effect] { std::invoke(std::forward<Effect>(effect)); };
        return run(resource, nullptr, token, &body, run_body<decltype(body)>);
    }
    // The same for a slot of a semaphore, Slot::number and Slot::token: it refuses the former
    // holder of that slot, and no holder of another one.
    template <std::invocable Effect>
    bool admit(std::string_view resource, std::uint32_t slot, FencingToken token, Effect&& effect) {
        const auto body = [&effect] { std::invoke(std::forward<Effect>(effect)); };
        return run(resource, &slot, token, &body, run_body<decltype(body)>);
    }

    // Compares and records the token without running an effect. A newer holder may come between
    // this answer and the write that follows it. So use it only to refuse stale work early, or
    // before a write that compares the token itself.
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
