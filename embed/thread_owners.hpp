// What the threads of this process have locked through the mutexes of one node: a mutex belongs to
// its thread, a Hold to nobody but itself, and this is where the one is made of the other.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "embed/fork_generation.hpp"
#include "embed/guarded.hpp"
#include <mortise/hold.hpp>

namespace mortise::detail {

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

    // The caller has `name` locked through some mutex, and did not lose it.
    [[nodiscard]] bool has(std::string_view name) const;
    // The caller's hold from that mutex, lost or not; null if it has none. It may leave the table's
    // lock because nobody but the caller, or the end of the mutex, touches the entry.
    [[nodiscard]] const Hold* find(const void* mutex, std::string_view name) const;

    // The caller has no hold from that mutex.
    void add(const void* mutex, std::string_view name, Hold hold);
    // Empty if there is none. A hold of any mode but `mode` stays.
    [[nodiscard]] Hold take(const void* mutex, std::string_view name, LockMode mode);
    // Gives back what the caller had from that mutex and lost.
    void drop_lost(const void* mutex, std::string_view name);
    // The mutex goes: gives back what any thread has from it.
    void forget(const void* mutex, std::string_view name);

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
    };
    using Table = std::map<Key, Owned, Order>;
    struct Shared : Guarded<Table> {
        const ForkGeneration generation;
    };
    class Caller;

    // Shared with the threads that are in it: each ends without asking whether the node still is.
    const std::shared_ptr<Shared> owned_;
};

}  // namespace mortise::detail
