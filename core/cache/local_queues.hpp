// The callers of this node that wait for a lock without asking the cluster, because another caller
// of the node has the lock or has asked for it (S41). There is one queue for each name, first come,
// first served.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// Who uses a cached grant, or waits for it.
struct CacheUser {
    LockerTag locker{};
    std::string label{};
};

class LocalQueues {
public:
    struct Waiter {
        CallTag call;
        CacheUser user{};
        Instant deadline = Instant::never();  // of the call
        Instant until = Instant::never();     // how long it waits in the queue
    };
    using Waiters = std::list<Waiter>;

    // Puts the caller at the end of the queue.
    void add(std::string_view name, Waiter waiter);
    // The asker has sent a request to the cluster, for all that wait in the queue.
    void set_asker(std::string_view name, CallTag asker, Instant now);
    // Allocates nothing. The queue is not empty, or has an asker.
    void change_asker(std::string_view name, CallTag asker, Instant now);
    // False if it is not the asker of that name.
    bool forget_asker(std::string_view name, CallTag asker);
    // When the asker of that name asked; empty if there is none.
    [[nodiscard]] std::optional<Instant> asked_at(std::string_view name) const;

    // The next caller of that name; null if there is none.
    [[nodiscard]] const Waiter* first(std::string_view name) const;
    // A caller whose time in the queue is over.
    [[nodiscard]] std::optional<CallTag> due(Instant now) const;
    // The name for which the caller waits; it does wait.
    [[nodiscard]] const std::string& name_of(CallTag call) const;

    // They allocate nothing. The callers leave the queue.
    [[nodiscard]] Waiters take(CallTag call);
    [[nodiscard]] Waiters take_all(std::string_view name);
    void clear();

    [[nodiscard]] bool is_empty(std::string_view name) const;
    [[nodiscard]] std::size_t size() const { return by_call_.size(); }
    // When due() has something to return.
    [[nodiscard]] Instant deadline() const;
    // Calls the function with each name for which somebody waits.
    void for_each_name(const std::function<void(std::string_view)>& use) const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const {
            return std::hash<std::string_view>{}(name);
        }
    };
    struct Asker {
        CallTag call;
        Instant at;
    };
    struct Queue {
        Waiters waiters;
        std::optional<Asker> asker;
    };
    using Queues = std::unordered_map<std::string, Queue, Hash, std::equal_to<>>;
    struct Place {
        Queues::value_type* queue;  // its address stays when others are added
        Waiters::iterator waiter;
    };
    using ByCall = std::map<CallTag, Place>;

    void erase_if_unused(Queues::iterator queue);

    Queues queues_;
    ByCall by_call_;
    std::set<std::pair<Instant, CallTag>> by_until_;
};

}  // namespace mortise::core
