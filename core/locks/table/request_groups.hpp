// The waiting requests for several names (S32): on which names each of them has its place. A
// request for any of them leaves all its places when it is let in on one; a request for all of them
// enters everywhere at once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

class RequestGroups {
public:
    struct Group {
        OperationId operation;
        Part part = Part::one_of;
        std::map<std::string, LockMode, std::less<>> names;
    };

    // The waiter, which is part of a request for several names, has a place on this name. False if
    // it contradicts what is known of that request.
    bool join(const std::string& name, const Waiter& waiter);
    // The request, which must wait there, has no place on this name any more.
    void leave(const std::string& name, Ticket ticket);
    // The request is over. It must wait.
    Group take(Ticket ticket);
    // No effect on a request for one name.
    void forget(Ticket ticket) { groups_.erase(ticket); }

    // It must wait.
    [[nodiscard]] const Group& at(Ticket ticket) const { return groups_.at(ticket); }
    // On how many names it waits; zero if there is no such request.
    [[nodiscard]] std::size_t names_waited_for(Ticket ticket) const;
    using Groups = std::map<Ticket, Group>;
    [[nodiscard]] const Groups& all() const { return groups_; }

private:
    Groups groups_;
};

}  // namespace mortise::core
