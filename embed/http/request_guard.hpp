// Which requests are answered at all: only those that no other web site can have made a browser
// send. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <httplib.h>

#include "embed/http/listen_address.hpp"

namespace mortise::http {

struct Refusal {
    int status = 400;
    std::string_view error;  // a word
    std::string reason;      // a sentence
};

// The names under which we are reached. A page of another site can give its own name our
// address (DNS rebinding), but then its requests carry that name.
class OwnNames {
public:
    // `further` are names or addresses, with or without a port. Throws std::system_error with
    // invalid_argument for one that no browser could send.
    OwnNames(const ListenAddress& address, std::vector<std::string> further);

    // `host` is the value of the header Host, with or without a port.
    [[nodiscard]] bool contain(std::string_view host) const;
    [[nodiscard]] std::string_view who() const { return who_; }

private:
    std::string_view who_;
    bool is_any_;
    std::vector<std::string> names_;
};

[[nodiscard]] std::string lower_case(std::string_view text);
// How many headers of that name the request has.
[[nodiscard]] std::size_t count(const httplib::Request& request, const char* header);
// A body that somebody sends along with a read would be taken for the next request.
[[nodiscard]] bool has_body(const httplib::Request& request);
// Empty if the request has a body in JSON of at most so many bytes, whose length is said once.
// `what` is what it asks for: "a break".
[[nodiscard]] std::optional<Refusal> content_refusal(const httplib::Request& request,
                                                     std::string_view what, std::size_t bytes_max);

// Empty if the request names us as its host.
[[nodiscard]] std::optional<Refusal> host_refusal(const httplib::Request& request,
                                                  const OwnNames& names);
// Browsers say where a request comes from; other programs say nothing. Empty unless it comes from
// another site. A link on a page of another site may lead to what may be visited.
[[nodiscard]] std::optional<Refusal> origin_refusal(const httplib::Request& request,
                                                    bool may_be_visited);
// Empty unless the request names a page of another site as its origin.
[[nodiscard]] std::optional<Refusal> referer_refusal(const httplib::Request& request);
// To a name that is no loopback, a browser does not say without TLS where a GET comes from. Empty
// if it has that header, with which it would ask before.
[[nodiscard]] std::optional<Refusal> silent_browser_refusal(const httplib::Request& request,
                                                            const char* header);

}  // namespace mortise::http
