#include "embed/http/http_server.hpp"

#include <string>
#include <string_view>

namespace mortise::http {

namespace {

constexpr int requests_per_connection_max = 1'000;

thread_local Connection* served = nullptr;

// Before httplib has seen the request.
void refuse(Connection& connection, std::string_view status, std::string_view why) {
    const auto body = R"({"error":"bad_request","reason":")" + std::string{why} + "\"}\n";
    const auto answer = "HTTP/1.1 " + std::string{status} +
                        "\r\nContent-Type: application/json\r\nConnection: close\r\n"
                        "X-Content-Type-Options: nosniff\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body;
    (void)connection.write(answer.data(), answer.size());
    connection.linger();
}

}  // namespace

HttpServer::HttpServer() {
    restore();
    // It takes a server without a socket for one that shuts down, and sends no streams.
    svr_sock_ = 0;
    set_keep_alive_max_count(requests_per_connection_max);
    set_keep_alive_timeout(Connection::idle_max.count());
}

Connection& HttpServer::current() {
    return *served;
}

void HttpServer::serve(Connection& connection) {
    served = &connection;
    for (int requests = 0; requests < requests_per_connection_max; ++requests) {
        const auto head = connection.read_head();
        if (head == Connection::Head::too_large)
            return refuse(connection, "431 Request Header Fields Too Large",
                          "a request has at most 8 KiB");
        if (head == Connection::Head::malformed)
            return refuse(connection, "400 Bad Request", "the head of the request is malformed");
        if (head == Connection::Head::too_slow)
            return refuse(connection, "408 Request Timeout", "the request took too long");
        if (head == Connection::Head::gone || !serve_one(connection)) break;
    }
    connection.linger();
}

bool HttpServer::serve_one(Connection& connection) {
    bool is_closing = false;
    const auto process = [&](auto& stream) {
        if constexpr (requires { process_request(stream, false, is_closing, nullptr); })
            return process_request(stream, false, is_closing, nullptr);
        else  // httplib after 0.11 is told the addresses of both sides, for which nobody asks
            return process_request(stream, "", 0, "", 0, false, is_closing, nullptr);
    };
    const bool is_answered = process(connection);
    return is_answered && !is_closing && !connection.is_last();
}

}  // namespace mortise::http
