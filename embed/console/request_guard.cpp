#include "embed/console/request_guard.hpp"

namespace mortise::console {

std::optional<Refusal> refusal(const httplib::Request& request, const OwnNames& names) {
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (!is_read && request.method != "POST")
        return Refusal{405, "bad_method", "the console knows GET, HEAD, and POST for a break"};
    if (auto foreign = http::host_refusal(request, names)) return foreign;
    if (auto foreign =
            http::origin_refusal(request, request.method == "GET" && request.path == "/"))
        return foreign;
    if (is_read && http::has_body(request))
        return Refusal{400, "bad_request", "a read has no body"};
    return std::nullopt;
}

std::optional<Refusal> change_refusal(const httplib::Request& request) {
    // Without a preflight request, to which the console does not agree, no page of another site can
    // send this header, nor this type of content.
    if (request.get_header_value("Mortise-Console") != "break")
        return Refusal{403, "header_missing", "a break has the header Mortise-Console: break"};
    return http::content_refusal(request, "a break", body_bytes_max);
}

}  // namespace mortise::console
