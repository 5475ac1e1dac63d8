// The door in a program: what it refuses, and how it ends.
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <system_error>

#include <unistd.h>

#include "tests/console/raw_client.hpp"
#include "tests/embed/one_node.hpp"
#include "tests/support/child.hpp"
#include <mortise/http_door.hpp>

namespace mortise::tests {
namespace {

std::uint16_t port_of(const HttpDoor& door) {
    const auto address = door.address();
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

class DoorInAProgram : public OneNode {
protected:
    [[nodiscard]] static HttpDoorOptions any_port() { return {.listen = "127.0.0.1:0"}; }
    // A client that holds the name as long as it exists.
    void hold(RawClient& client, const std::string& name) {
        client.send("GET /v1/hold/" + name + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        EXPECT_NE(client.read_until("granted").find("granted"), std::string::npos);
    }
    [[nodiscard]] bool is_held(const char* name) { return node_.inspect(name).is_held(); }
    void wait_until_free(const char* name) {
        const auto hold = node_.acquire_for(name, patience);
        EXPECT_TRUE(hold.has_value());
    }
};

TEST_F(DoorInAProgram, MistakesAreRefusedWithoutANode) {
    for (const auto& options :
         {HttpDoorOptions{.listen = "7481"}, HttpDoorOptions{.listen = "0.0.0.0:0"},
          HttpDoorOptions{.listen = "127.0.0.1:0", .hosts = {"http://a"}}}) {
        try {
            HttpDoor::check(options);
            ADD_FAILURE() << options.listen;
        } catch (const std::system_error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
    }
    EXPECT_THROW(HttpDoor::check({.listen = "127.0.0.1:0", .tokens = "/nowhere"}),
                 std::system_error);
}

TEST_F(DoorInAProgram, ItsEndGivesBackWhatClientsHoldAndWaitFor) {
    std::optional<HttpDoor> door{std::in_place, node_, any_port()};
    RawClient holder{port_of(*door)};
    hold(holder, "a");
    const auto own = node_.acquire("b");
    RawClient waiter{port_of(*door)};
    waiter.send("GET /v1/hold/b HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(wait_for_waiters("b", 1));
    door.reset();
    EXPECT_TRUE(wait_for_waiters("b", 0));
    wait_until_free("a");
    EXPECT_TRUE(holder.is_closed_within(patience));
    EXPECT_TRUE(waiter.is_closed_within(patience));
}

TEST_F(DoorInAProgram, ItMayOutliveItsNodesWork) {
    HttpDoor door{node_, any_port()};
    RawClient holder{port_of(door)};
    hold(holder, "a");
    node_.close();
    EXPECT_NE(holder.read_until("lost").find("node_stopped"), std::string::npos);
    const auto refused = ask(port_of(door), "GET", "/v1/hold/b");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.json()["error"], "node_stopped");
    door.close();
    door.close();
}

TEST_F(DoorInAProgram, MovedItGoesOn) {
    HttpDoor first{node_, any_port()};
    RawClient holder{port_of(first)};
    hold(holder, "a");
    HttpDoor second{std::move(first)};
    EXPECT_TRUE(is_held("a"));
    second = HttpDoor{node_, any_port()};
    wait_until_free("a");
    EXPECT_EQ(ask(port_of(second), "GET", "/v1/status").status, 200);
}

TEST_F(DoorInAProgram, InTheChildOfAForkItDoesNothing) {
    std::optional<HttpDoor> door{std::in_place, node_, any_port()};
    RawClient holder{port_of(*door)};
    hold(holder, "a");
    EXPECT_EQ(exit_of_child([&] {
                  door.reset();
                  return 0;
              }),
              0);
    EXPECT_TRUE(is_held("a"));
    EXPECT_EQ(ask(port_of(*door), "GET", "/v1/status").status, 200);
}

TEST_F(DoorInAProgram, ACopyInAChildDoesNotKeepAConnectionOpen) {
    std::optional<HttpDoor> door{std::in_place, node_, any_port()};
    RawClient reader{port_of(*door)};
    reader.send("GET /v1/follow/a HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(reader.read_until("leader").find("leader"), std::string::npos);
    const auto child = begin_child([] { return ::pause(); });
    door.reset();
    EXPECT_TRUE(reader.is_closed_within(patience));
    ::kill(child, SIGKILL);
    EXPECT_EQ(end_of(child), 128 + SIGKILL);
}

}  // namespace
}  // namespace mortise::tests
