// Which threads of this process have locked which names through the mutexes of one node. A mutex
// belongs to its thread, a Hold only to itself; this table connects them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "embed/threads/fork_generation.hpp"
#include "embed/threads/guarded.hpp"
#include <mortise/hold.hpp>
#include <mortise/locker.hpp>

namespace mortise::detail {

class NodeRuntime;

enum class Recursion : bool { no, yes };

// Identifies a mutex object in this process. It is never reused, unlike the address of the object.
enum class MutexNumber : std::uint64_t {};
[[nodiscard]] MutexNumber next_mutex_number();

// Identifies a thread. Unlike a thread id, its address is not reused while anything refers to it.
struct ThreadMark {};

// Thread-safe. "The caller" is the calling thread. Holds are first removed from the table and then
// released without a lock.
//
// When a thread ends, its thread-local destructors unlock what it still has locked, because no
// other thread could do it.
//
// An entry of a hold from a cached grant stays when its thread unlocks it, with a depth of zero: it
// counts as no hold, and the thread locks the mutex again without a look at the table. Only a few
// such entries of a thread stay.
class ThreadOwners {
public:
    ThreadOwners();
    ~ThreadOwners();
    ThreadOwners(const ThreadOwners&) = delete;
    ThreadOwners& operator=(const ThreadOwners&) = delete;

    // In the child of a fork nothing else may be called.
    [[nodiscard]] bool is_forked() const { return owned_->generation.is_forked(); }

    // Why the caller cannot lock `name` through a mutex of which it has no hold: deadlock if it has
    // a valid hold through another mutex. Recursive mutexes share the caller's hold; for them a
    // lost hold gives lock_lost.
    [[nodiscard]] std::error_code obstacle(std::string_view name, Recursion recursion) const;
    // The other nodes through whose mutexes the caller has a valid hold of `name` that conflicts
    // with `mode`.
    [[nodiscard]] std::vector<std::shared_ptr<NodeRuntime>> others_with(std::string_view name,
                                                                        LockMode mode) const;
    // The caller's hold from that mutex, lost or not; null if there is none. The pointer may leave
    // the lock of the table, because only the caller or the end of the mutex changes the entry.
    [[nodiscard]] const Hold* find(MutexNumber mutex, std::string_view name) const;

    // Called before the first add(): the node whose mutexes these are.
    void belong_to(const std::shared_ptr<NodeRuntime>& node);
    // Requires that the caller has no hold from that mutex.
    void add(MutexNumber mutex, std::string_view name, Hold hold, Recursion recursion);
    // Adds one level of recursion. Empty if the caller has no hold from that mutex; lock_lost if it
    // was lost; resource_exhausted if there are too many levels.
    [[nodiscard]] std::optional<std::error_code> deepen(MutexNumber mutex, std::string_view name);
    // Removes one level, and releases the hold with the last one. False if there is no hold, or one
    // of another mode.
    bool unlock(MutexNumber mutex, std::string_view name, LockMode mode);
    // Locks a mutex again that the caller has unlocked, if its grant is still cached and unused.
    // False if that is not possible now.
    [[nodiscard]] static bool lock_again(MutexNumber mutex, LockMode mode);
    // Unlocks what lock_again() has locked; false if it did not.
    [[nodiscard]] static bool unlock_again(MutexNumber mutex, LockMode mode);
    // Releases the caller's hold from that mutex if it was lost.
    void drop_lost(MutexNumber mutex, std::string_view name);
    // The mutex is destroyed: releases the holds of all threads from it.
    void forget(MutexNumber mutex, std::string_view name);

    // The caller's locker, until the thread ends; `make` is called the first time.
    [[nodiscard]] Locker locker(const std::function<Locker()>& make);

private:
    struct Key {
        std::string name;
        const ThreadMark* thread = nullptr;
        MutexNumber mutex{};
    };
    struct View {
        std::string_view name;
        const ThreadMark* thread = nullptr;
        MutexNumber mutex{};
    };
    struct Order {
        using is_transparent = void;  // NOLINT(readability-identifier-naming)
        static View view(const Key& key) { return {key.name, key.thread, key.mutex}; }
        static View view(const View& key) { return key; }
        template <class Left, class Right>
        bool operator()(const Left& left, const Right& right) const;
    };
    struct Owned {
        Hold hold;
        LockMode mode;
        Recursion recursion;
        std::size_t depth = 1;  // only the thread of the entry reads or changes it
    };
    using Table = std::map<Key, Owned, Order>;
    struct Shared : Guarded<Table> {
        Guarded<std::map<const ThreadMark*, Locker>> lockers;
        Guarded<std::weak_ptr<NodeRuntime>> node;
        const ForkGeneration generation;
    };
    class Caller;

    // Shared with the threads in it, so that each can end without knowing whether the node still
    // exists.
    const std::shared_ptr<Shared> owned_;
};

}  // namespace mortise::detail
