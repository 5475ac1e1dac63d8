// A client for HTTP that sends whatever a test wants.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace mortise::tests {

struct Reply {
    int status = 0;  // 0: there was none
    std::string head;
    std::string body;

    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body); }
};

// One connection to a port on 127.0.0.1.
class RawClient {
public:
    explicit RawClient(std::uint16_t port);
    ~RawClient();
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    // False if the other side has closed the connection.
    bool send(std::string_view bytes);
    // Reads until the text appears, the other side closes, or the time ends; what it has read.
    std::string read_until(std::string_view text,
                           std::chrono::milliseconds wait_max = std::chrono::seconds{10});
    // Reads to the end of the connection.
    std::string read_all() { return read_until({}); }
    // Whether the other side closes the connection in that time.
    bool is_closed_within(std::chrono::milliseconds time);

private:
    int socket_;
    std::string read_;
};

// Sends a request, and reads the answer on a connection of its own. `more` are further lines of the
// head, each with its end.
[[nodiscard]] Reply ask(std::uint16_t port, std::string_view method, std::string_view target,
                        std::string_view more = {}, std::string_view body = {});
// The same with the header Host, and nothing else but `lines`.
[[nodiscard]] Reply ask_as(std::uint16_t port, std::string_view request_line,
                           std::string_view lines, std::string_view body = {});
[[nodiscard]] Reply reply_of(const std::string& bytes);

}  // namespace mortise::tests
