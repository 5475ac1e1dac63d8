// The door in a program: what it refuses, and how it ends.
#include <chrono>
#include <csignal>
#include <optional>
#include <semaphore>
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
    static void wait_for_one_stream(std::uint16_t port) {
        const auto give_up = std::chrono::steady_clock::now() + patience;
        while (ask(port, "GET", "/v1/status").json()["streams"] != 1)
            ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    }
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

// What the node calls is held up, so that the client is back before the cancellation is told.
TEST_F(DoorInAProgram, WhoComesBackWhileItsRequestIsCancelledWaitsAgain) {
    HttpDoor door{node_, any_port()};
    const auto port = port_of(door);
    const std::string json = "Content-Type: application/json\r\n";
    const auto session = ask(port, "POST", "/v1/sessions", json, "{}").json()["session"];
    std::optional<RawClient> client;
    const auto repeat = [&] {
        client.emplace(port);
        client->send("POST /v1/sessions/" + session.get<std::string>() +
                     "/holds HTTP/1.1\r\nHost: localhost\r\n" + json +
                     "Idempotency-Key: k\r\nContent-Length: 12\r\n\r\n{\"name\":\"a\"}");
    };
    std::counting_semaphore<> begins{0};
    std::counting_semaphore<> may_end{0};
    const auto slow = node_.observe("slow", [&](const Event& event) {
        const bool is_grant = event.kind == Event::Kind::granted;
        if (is_grant || event.kind == Event::Kind::state_complete) begins.release();
        if (is_grant) may_end.acquire();
    });
    begins.acquire();
    auto own = node_.acquire("a");
    repeat();
    ASSERT_TRUE(wait_for_waiters("a", 1));
    for (int round = 0; round < 5; ++round) {
        const auto hold = node_.acquire("slow" + std::to_string(round));
        begins.acquire();
        client.reset();
        EXPECT_TRUE(wait_for_waiters("a", 0));
        repeat();
        wait_for_one_stream(port);
        may_end.release();
        ASSERT_TRUE(wait_for_waiters("a", 1));
    }
    own.unlock();
    EXPECT_NE(client->read_until("valid_ms").find("201 OK"), std::string::npos);
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
