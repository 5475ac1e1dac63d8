// What the door does with a request whose path and caller are known.
#pragma once

#include <atomic>

#include <httplib.h>

#include "embed/door/access.hpp"
#include "embed/door/acquiring.hpp"
#include "embed/door/asked.hpp"
#include "embed/door/feed.hpp"
#include "embed/door/routes.hpp"
#include "embed/door/sessions.hpp"
#include "embed/door/shares.hpp"
#include "embed/http/parked.hpp"
#include <mortise/http_door.hpp>
#include <mortise/node.hpp>

namespace mortise::door {

// openapi.json
extern const char* const description;

// A request, as far as it was checked.
struct Request {
    const httplib::Request& http;
    const Found& found;
    const Caller& caller;
    Received received;

    [[nodiscard]] const std::string& part(std::size_t number) const {
        return found.parts.at(number);
    }
};

// Thread-safe.
class Api {
public:
    static constexpr std::size_t body_bytes_max = std::size_t{64} << 10U;

    Api(Node& node, const HttpDoorOptions& options, Sessions& sessions, http::ParkedLoop& parked)
        : node_{node}, options_{options}, sessions_{sessions}, parked_{parked} {}

    // Throws Refused, and the errors of the node.
    void answer(const Request& request, httplib::Response& response);

private:
    void stream_hold(const Request& request, bool leads);
    void open_session(const Request& request, httplib::Response& response);
    void end_session(const Request& request, httplib::Response& response);
    void acquire(const Request& request);
    void show_hold(const Request& request, httplib::Response& response);
    void release(const Request& request, httplib::Response& response);
    void list(const Request& request, httplib::Response& response);
    void inspect(const Request& request, httplib::Response& response);
    void leader(const Request& request, httplib::Response& response);
    void follow(const Request& request);
    void events(const Request& request);
    void status(httplib::Response& response);

    // The session of the path; throws Refused if the caller has none with that id.
    [[nodiscard]] std::shared_ptr<Session> session_of(const Request& request);
    [[nodiscard]] Session::Facts facts_of(Asked& asked, const Caller& caller) const;
    [[nodiscard]] std::shared_ptr<Session> opened(Session::Facts facts);
    void park(std::shared_ptr<http::Parked> parked);
    // Throws Refused if there are too many.
    [[nodiscard]] std::shared_ptr<Feed> new_feed(const Caller& caller, std::string head,
                                                 std::string alive);
    // For a stream or a wait. Throws Refused if there are too many, or the user has its share.
    [[nodiscard]] std::shared_ptr<void> place_for(const Caller& caller);

    Node& node_;
    const HttpDoorOptions& options_;
    Sessions& sessions_;
    http::ParkedLoop& parked_;
    Shares shares_;
    std::atomic<int> blocking_ = 0;
    const std::shared_ptr<std::atomic<int>> feeds_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace mortise::door
