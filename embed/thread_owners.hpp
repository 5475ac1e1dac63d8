// What the threads of this process have locked through the mutexes of one node: a mutex belongs to
// its thread, a Hold to nobody but itself, and this is where the one is made of the other.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "embed/fork_generation.hpp"
#include "embed/guarded.hpp"
#include <mortise/hold.hpp>
#include <mortise/locker.hpp>

namespace mortise::detail {

enum class Recursion : bool { no, yes };

// What stands for a thread. Nobody gets its address while anything here still names it, unlike the
// id of a thread.
struct ThreadMark {};

// Thread-safe. "The caller" is the calling thread. Holds are taken out first and given back when no
// lock is held any more.
//
// When a thread ends, what it still has locked is unlocked, by its thread-local destructors: nobody
// else could ever do it.
class ThreadOwners {
public:
    ThreadOwners();
    ~ThreadOwners();
    ThreadOwners(const ThreadOwners&) = delete;
    ThreadOwners& operator=(const ThreadOwners&) = delete;

    // In the child of a fork nothing else may be called.
    [[nodiscard]] bool is_forked() const { return owned_->generation.is_forked(); }

    // Why the caller cannot lock `name` through a mutex that has nothing of it: deadlock when some
    // other has, and did not lose it. Recursive mutexes share what the caller has through each
    // other: for them it is lock_lost when that was lost.
    [[nodiscard]] std::error_code obstacle(std::string_view name, Recursion recursion) const;
    // The caller's hold from that mutex, lost or not; null if it has none. It may leave the table's
    // lock because nobody but the caller, or the end of the mutex, touches the entry.
    [[nodiscard]] const Hold* find(const void* mutex, std::string_view name) const;

    // The caller has no hold from that mutex.
    void add(const void* mutex, std::string_view name, Hold hold, Recursion recursion);
    // Counts one more: nothing when the caller has no hold from that mutex, lock_lost when it lost
    // it, resource_exhausted when it is too deep.
    [[nodiscard]] std::optional<std::error_code> deepen(const void* mutex, std::string_view name);
    // Counts one less, and gives the hold back with the last. False if there is none, or one of
    // another mode.
    bool unlock(const void* mutex, std::string_view name, LockMode mode);
    // Gives back what the caller had from that mutex and lost.
    void drop_lost(const void* mutex, std::string_view name);
    // The mutex goes: gives back what any thread has from it.
    void forget(const void* mutex, std::string_view name);

    // The caller's own, until it ends; `make` is called for the first.
    [[nodiscard]] Locker locker(const std::function<Locker()>& make);

private:
    struct Key {
        std::string name;
        const ThreadMark* thread = nullptr;
        const void* mutex = nullptr;
    };
    struct View {
        std::string_view name;
        const ThreadMark* thread = nullptr;
        const void* mutex = nullptr;
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
        std::size_t depth = 1;
    };
    using Table = std::map<Key, Owned, Order>;
    struct Shared : Guarded<Table> {
        Guarded<std::map<const ThreadMark*, Locker>> lockers;
        const ForkGeneration generation;
    };
    class Caller;

    // Shared with the threads that are in it: each ends without asking whether the node still is.
    const std::shared_ptr<Shared> owned_;
};

}  // namespace mortise::detail
