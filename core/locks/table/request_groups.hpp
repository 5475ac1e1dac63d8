// The waiting requests for several names (S32), and the names in whose queues each of them waits. A
// request for any of its names leaves all its queues when it is granted one name; a request for all
// of them is granted all at once.
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

    // Adds a name on which a waiter, part of a request for several names, is queued. False if it
    // contradicts what is known of that request.
    bool join(std::string_view name, const Waiter& waiter);
    // Removes a name on which the request, which must wait there, is queued no more.
    void leave(std::string_view name, Ticket ticket);
    // Removes the request, which must wait.
    Group take(Ticket ticket);
    // No effect on a request for one name.
    void forget(Ticket ticket) { groups_.erase(ticket); }

    // The request must wait.
    [[nodiscard]] const Group& at(Ticket ticket) const { return groups_.at(ticket); }
    // The number of names on which the request waits; zero if there is no such request.
    [[nodiscard]] std::size_t names_waited_for(Ticket ticket) const;
    using Groups = std::map<Ticket, Group>;
    [[nodiscard]] const Groups& all() const { return groups_; }

private:
    Groups groups_;
};

}  // namespace mortise::core
