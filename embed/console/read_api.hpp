// What /api/v1 and /metrics answer to GET: the node, the names, who waits, the sessions.
#pragma once

#include <httplib.h>

#include "embed/console/event_streams.hpp"
#include "embed/console/member_watch.hpp"
#include <mortise/node.hpp>

namespace mortise::console {

// Thread-safe.
class ReadApi {
public:
    ReadApi(Node& node, bool may_break, MemberWatch& members, EventStreams& streams)
        : node_{node}, may_break_{may_break}, members_{members}, streams_{streams} {}

    // False if there is nothing at that path.
    bool answer(const httplib::Request& request, httplib::Response& response);

private:
    // Throws the errors of the node.
    bool read(const httplib::Request& request, httplib::Response& response);
    void status(httplib::Response& response);
    void activity(const httplib::Request& request, httplib::Response& response);
    void locks(const httplib::Request& request, httplib::Response& response);
    void lock(const httplib::Request& request, httplib::Response& response);
    void waits(const httplib::Request& request, httplib::Response& response);
    void sessions(httplib::Response& response);

    Node& node_;
    const bool may_break_;
    MemberWatch& members_;
    EventStreams& streams_;
};

}  // namespace mortise::console
