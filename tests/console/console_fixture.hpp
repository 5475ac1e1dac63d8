// A node in memory with a console.
#pragma once

#include <charconv>
#include <future>
#include <string>
#include <utility>

#include <asio/use_future.hpp>

#include "tests/console/raw_client.hpp"
#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>
#include <mortise/console.hpp>

namespace mortise::tests {

inline std::uint16_t port_of(const Console& console) {
    const auto address = console.address();
    std::uint16_t port = 0;
    std::from_chars(address.data() + address.rfind(':') + 1, address.data() + address.size(), port);
    return port;
}

inline ConsoleOptions any_port() {
    return {.listen = "127.0.0.1:0"};
}

class OneConsole : public OneNode {
protected:
    [[nodiscard]] Reply get(std::string_view target, std::string_view more = {}) const {
        return ask(port_, "GET", target, more);
    }
    [[nodiscard]] nlohmann::json json(std::string_view target) const {
        const auto reply = get(target);
        EXPECT_EQ(reply.status, 200) << reply.head << reply.body;
        return reply.json();
    }
    [[nodiscard]] Reply post_break(const nlohmann::json& body) const {
        return ask(port_, "POST", "/api/v1/break",
                   "Content-Type: application/json\r\nMortise-Console: break\r\n", body.dump());
    }
    // A request that is queued when this returns.
    [[nodiscard]] std::future<Hold> wait_for(const char* name, AcquireOptions options) {
        const auto before = node_.inspect(name).waiters.size();
        auto waiting = async_acquire(node_, name, std::move(options), asio::use_future);
        EXPECT_TRUE(wait_for_waiters(name, before + 1));
        return waiting;
    }
    [[nodiscard]] static nlohmann::json break_of(std::string_view name, FencingToken token) {
        return {{"name", name},
                {"token", to_string(token)},
                {"confirm", to_string(token)},
                {"reason", "it hangs"}};
    }

    Console console_{node_, any_port()};
    const std::uint16_t port_ = port_of(console_);
};

}  // namespace mortise::tests
