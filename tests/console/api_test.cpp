// What the console answers to programs: /api/v1.
#include <future>

#include "tests/console/console_fixture.hpp"

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

using ConsoleApi = OneConsole;

TEST_F(ConsoleApi, TellsTheNodeAndItsMembers) {
    const auto hold = node_.acquire("a");
    const auto told = json("/api/v1/status");
    EXPECT_EQ(told["node"]["id"], 1);
    EXPECT_EQ(told["node"]["ready"], true);
    EXPECT_EQ(told["node"]["standing"], "leader");
    EXPECT_EQ(told["node"]["version"], node_.status().version);
    ASSERT_EQ(told["members"].size(), 1U);
    const auto& member = told["members"][0];
    EXPECT_EQ(member["self"], true);
    EXPECT_EQ(member["leads"], true);
    EXPECT_EQ(member["lag"], 0);
    EXPECT_EQ(told["node"]["members"].size(), 1U);
    EXPECT_EQ(told["names"], 1);
    EXPECT_EQ(told["console"]["may_break"], true);
}

TEST_F(ConsoleApi, ListsHoldersAndTheQueueInItsOrder) {
    const auto hold = node_.acquire("orders/42", {.label = "the holder"});
    auto first = wait_for("orders/42", {.mode = LockMode::shared, .label = "first", .priority = 3});
    auto second = wait_for("orders/42", {.label = "second"});
    const auto told = json("/api/v1/lock?name=orders%2F42");
    EXPECT_EQ(told["name"], "orders/42");
    EXPECT_EQ(told["kind"], "lock");
    ASSERT_EQ(told["holders"].size(), 1U);
    const auto& holder = told["holders"][0];
    EXPECT_EQ(holder["label"], "the holder");
    EXPECT_EQ(holder["mode"], "exclusive");
    EXPECT_EQ(holder["token"], to_string(hold.token()));  // a string: it has 63 bits
    EXPECT_EQ(holder["node"], 1);
    EXPECT_GT(holder["lease_left_ms"], 1'000);
    EXPECT_LE(holder["lease_left_ms"], 10'200);  // the TTL, and what a clock may run too slow
    ASSERT_EQ(told["waiters"].size(), 2U);
    EXPECT_EQ(told["waiters"][0]["label"], "first");
    EXPECT_EQ(told["waiters"][0]["mode"], "shared");
    EXPECT_EQ(told["waiters"][1]["label"], "second");
    EXPECT_EQ(told["waiters"][0]["priority"], 3);
    EXPECT_LT(told["waiters"][0]["since"], told["waiters"][1]["since"]);
    node_.close();
}

TEST_F(ConsoleApi, ListsByPrefixAndPageByPage) {
    std::vector<Hold> holds;
    for (const auto* const name : {"jobs/1", "jobs/2", "jobs/3", "other"})
        holds.push_back(node_.acquire(name));
    const auto first = json("/api/v1/locks?prefix=jobs/&limit=2");
    ASSERT_EQ(first["locks"].size(), 2U);
    EXPECT_EQ(first["locks"][0]["name"], "jobs/1");
    EXPECT_EQ(first["next"], "jobs/2");
    const auto second = json("/api/v1/locks?prefix=jobs/&limit=2&after=jobs/2");
    ASSERT_EQ(second["locks"].size(), 1U);
    EXPECT_EQ(second["locks"][0]["name"], "jobs/3");
    EXPECT_EQ(second["next"], nullptr);
    for (const auto* const limit : {"0", "201", "-1", "x", "1x"})
        EXPECT_EQ(get(std::string{"/api/v1/locks?limit="} + limit).status, 400) << limit;
}

TEST_F(ConsoleApi, NamesAndLabelsAreBytes) {
    using namespace std::string_literals;
    const auto bytes = node_.acquire("\xff\0\xfe"s, {.label = "\x80"});
    const auto quotes = node_.acquire("\"<b>\\&+ =");
    EXPECT_EQ(json("/api/v1/lock?name=%22%3Cb%3E%5C%26%2B%20%3D")["name"], "\"<b>\\&+ =");
    const auto told = json("/api/v1/lock?name=%ff%00%fe");
    EXPECT_EQ(told["name"]["hex"], "ff00fe");
    EXPECT_EQ(told["name"]["shown"], "\\xff\\x00\\xfe");
    EXPECT_EQ(told["holders"][0]["label"]["hex"], "80");
    EXPECT_EQ(json("/api/v1/locks?after=%22%3Cb%3E%5C%26%2B%20%3D")["locks"].size(), 1U);
    EXPECT_EQ(get("/api/v1/lock").status, 400);
    EXPECT_EQ(get("/api/v1/lock?name=" + std::string(600, 'x')).status, 400);
    EXPECT_EQ(json("/api/v1/lock?name=unknown")["holders_total"], 0);
}

TEST_F(ConsoleApi, ShowsWhatANameIsUsedAs) {
    Semaphore semaphore{node_, "tickets", 3};
    const auto permits = semaphore.acquire(2);
    Latch latch{node_, "latch", 5};
    Barrier barrier{node_, "barrier", 4};
    latch.count_down();
    auto arriving = std::async(std::launch::async, [&] {
        std::error_code ec;
        (void)barrier.arrive_and_wait(ec);
    });
    while (!node_.inspect("barrier").barrier)
        std::this_thread::sleep_for(1ms);
    auto told = json("/api/v1/lock?name=tickets");
    EXPECT_EQ(told["kind"], "semaphore");
    EXPECT_EQ(told["limit"]["permits"], 3);
    EXPECT_EQ(told["holders"][0]["slots"], Json::array({0, 1}));
    EXPECT_EQ(told["holders"][0]["slots_total"], 2);
    told = json("/api/v1/lock?name=latch");
    EXPECT_EQ(told["kind"], "latch");
    EXPECT_EQ(told["latch"]["remaining"], 4);
    told = json("/api/v1/lock?name=barrier");
    EXPECT_EQ(told["kind"], "barrier");
    EXPECT_EQ(told["barrier"]["parties"], 4);
    ASSERT_EQ(told["barrier"]["members"].size(), 1U);
    EXPECT_EQ(told["barrier"]["members"][0]["node"], 1);
    EXPECT_EQ(told["barrier"]["members"][0]["arrived"], 1);
    EXPECT_EQ(told["barrier"]["members"][0]["parties"], 1);
    const auto listed = json("/api/v1/locks?prefix=barrier")["locks"][0];
    EXPECT_EQ(listed["barrier"]["arrived"], 1);
    EXPECT_FALSE(listed["barrier"].contains("members"));
    node_.close();
}

TEST_F(ConsoleApi, AnElectionShowsTheValueOfItsLeader) {
    Election election{node_, "jobs/leader"};
    const auto hold = election.campaign("10.0.0.3:80");
    const auto told = json("/api/v1/locks")["locks"][0];
    EXPECT_EQ(told["election"]["value"], "10.0.0.3:80");
    EXPECT_EQ(json("/api/v1/lock?name=jobs%2Fleader")["election"]["value"], "10.0.0.3:80");
}

TEST_F(ConsoleApi, OnlyShortValuesOfOneNameAreShown) {
    auto hold = node_.acquire("a", {.caching = Caching::off});
    hold.set_value(std::string(256, 'x'));
    EXPECT_EQ(json("/api/v1/lock?name=a")["value"]["bytes"], std::string(256, 'x'));
    hold.set_value(std::string(257, 'x'));
    EXPECT_FALSE(json("/api/v1/lock?name=a")["value"].contains("bytes"));
}

TEST_F(ConsoleApi, ValuesAreNotShownInListsAndEvents) {
    RawClient client{port_};
    client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.read_until("event: begin");
    auto hold = node_.acquire("a", {.caching = Caching::off});
    hold.set_value("secret");
    EXPECT_FALSE(hold.release());
    EXPECT_EQ(client.read_until("\"released\"").find("secret"), std::string::npos);
    for (const auto* const target :
         {"/api/v1/locks", "/api/v1/locks?contains=a", "/api/v1/locks?sort=age", "/api/v1/waits"})
        EXPECT_EQ(get(target).body.find("secret"), std::string::npos) << target;
}

TEST_F(ConsoleApi, TellsWhyANameIsClosedAndOpensIt) {
    ASSERT_FALSE(node_.acquire("closed", {.min_hold = 10min}).release());
    const auto told = json("/api/v1/lock?name=closed");
    EXPECT_EQ(told["closed"], true);
    ASSERT_EQ(told["closures"].size(), 1U);
    EXPECT_EQ(told["closures"][0]["by"], "min_hold");
    EXPECT_GT(told["closures"][0]["left_ms"], 500'000);
    const auto token =
        FencingToken::from_raw(std::stoll(told["closures"][0]["token"].get<std::string>()));
    EXPECT_EQ(post_break(break_of("closed", token)).status, 200);
    EXPECT_EQ(json("/api/v1/lock?name=closed")["closed"], false);
}

TEST_F(ConsoleApi, AnswersAreBounded) {
    std::vector<Hold> holds;
    for (int i = 0; i < 1'100; ++i)
        holds.push_back(node_.acquire("crowd", {.mode = LockMode::shared}));
    const auto after_it = node_.acquire("d");
    const auto told = json("/api/v1/lock?name=crowd");
    EXPECT_EQ(told["holders"].size(), 500U);
    EXPECT_EQ(told["holders_total"], 1'100);
    EXPECT_EQ(told["truncated"], true);
    const auto listed = json("/api/v1/locks");
    ASSERT_EQ(listed["locks"].size(), 1U);  // it alone is a full page
    EXPECT_EQ(listed["locks"][0]["holders"].size(), 1'000U);
    EXPECT_EQ(listed["next"], "crowd");
    EXPECT_EQ(json("/api/v1/locks?after=crowd")["locks"][0]["name"], "d");
}

TEST_F(ConsoleApi, ListsTheNamesThatSomebodyWaitsFor) {
    const auto free = node_.acquire("a/free");
    const auto taken = node_.acquire("b/taken");
    const auto waiting = wait_for("b/taken", {.label = "waiter"});
    const auto told = json("/api/v1/waits");
    ASSERT_EQ(told["locks"].size(), 1U);
    EXPECT_EQ(told["locks"][0]["name"], "b/taken");
    EXPECT_EQ(told["scanned"], 2);
    EXPECT_EQ(told["next"], nullptr);
    EXPECT_TRUE(json("/api/v1/waits?prefix=a/")["locks"].empty());
    node_.close();
}

TEST_F(ConsoleApi, TellsWhatIsContended) {
    const auto taken = node_.acquire("b/taken", {.caching = Caching::off});
    const auto waiting = wait_for("b/taken", {.label = "waiter"});
    const auto told = json("/api/v1/activity");
    EXPECT_EQ(told["waiters"], 1);
    ASSERT_EQ(told["hottest"].size(), 1U);
    EXPECT_EQ(told["hottest"][0]["name"], "b/taken");
    EXPECT_EQ(told["hottest"][0]["kind"], "lock");
    EXPECT_EQ(told["recent"]["waiters_max"], 1);
    EXPECT_GE(told["slots"].size(), 1U);
    EXPECT_TRUE(json("/api/v1/activity?prefix=a/")["hottest"].empty());
    node_.close();
    EXPECT_EQ(get("/api/v1/activity").status, 503);
}

TEST_F(ConsoleApi, AStoppedNodeIsShownAsThat) {
    node_.close();
    const auto told = json("/api/v1/status");
    EXPECT_EQ(told["node"]["stopped"], true);
    EXPECT_EQ(get("/api/v1/locks").status, 503);
    EXPECT_EQ(get("/api/v1/locks").json()["error"], "node_stopped");
    EXPECT_EQ(get("/api/v1/events").status, 503);
}

TEST_F(ConsoleApi, HasTheMetricsForPrometheus) {
    const auto hold = node_.acquire("a");
    const auto reply = get("/metrics");
    EXPECT_EQ(reply.status, 200);
    EXPECT_NE(reply.head.find("Content-Type: text/plain; version=0.0.4"), std::string::npos);
    EXPECT_NE(reply.body.find("# TYPE mortise_"), std::string::npos);
    EXPECT_NE(reply.body.find("node=\"1\""), std::string::npos);
    EXPECT_EQ(ask_as(port_, "GET /metrics", "Host: evil.example\r\nConnection: close\r\n").status,
              403);
    node_.close();
    EXPECT_EQ(get("/metrics").status, 200);  // the last numbers
}

// --- the break --------------------------------------------------------------------------------

TEST_F(ConsoleApi, BreaksALockThatIsConfirmed) {
    const auto hold = node_.acquire("stuck");
    const auto reply = post_break(break_of("stuck", hold.token()));
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_TRUE(is_lost(hold));
    EXPECT_EQ(hold.why_lost(), LossReason::broken);
}

TEST_F(ConsoleApi, BreaksNothingWithoutItsConfirmation) {
    const auto hold = node_.acquire("stuck");
    const auto whole = break_of("stuck", hold.token());
    const auto refused = [&](const Json& body, int status, const char* error) {
        const auto reply = post_break(body);
        EXPECT_EQ(reply.status, status) << body;
        EXPECT_EQ(reply.json()["error"], error) << body;
    };
    const auto with = [&](const char* member, const Json& value) {
        auto body = whole;
        body[member] = value;
        return body;
    };
    refused(with("confirm", ""), 400, "not_confirmed");
    refused(with("confirm", "stuck"), 400, "not_confirmed");
    refused(with("confirm", hold.token().raw()), 400, "not_confirmed");  // a number, not its text
    refused(with("reason", ""), 400, "no_reason");
    refused(with("reason", std::string(300, 'x')), 400, "invalid_argument");
    EXPECT_NE(post_break(with("reason", std::string(300, 'x'))).body.find("256 bytes"),
              std::string::npos);
    refused(with("token", hold.token().raw()), 400, "bad_request");
    refused(with("token", "-1"), 400, "bad_request");
    refused(with("name", nullptr), 400, "bad_request");
    refused(with("now", "yes"), 400, "bad_request");
    refused(Json::array(), 400, "bad_request");
    refused(break_of("stuck", FencingToken::from_raw(hold.token().raw() + 1)), 409, "not_held");
    refused(break_of("another", hold.token()), 409, "not_held");
    EXPECT_EQ(ask(port_, "POST", "/api/v1/break",
                  "Content-Type: application/json\r\nMortise-Console: break\r\n", "{\"name\"")
                  .status,
              400);
    EXPECT_TRUE(hold.valid());
}

TEST_F(ConsoleApi, AConsoleThatOnlyReadsBreaksNothing) {
    auto options = any_port();
    options.allow_break = false;
    const Console reader{node_, options};
    const auto hold = node_.acquire("stuck");
    const auto reply = ask(port_of(reader), "POST", "/api/v1/break",
                           "Content-Type: application/json\r\nMortise-Console: break\r\n",
                           break_of("stuck", hold.token()).dump());
    EXPECT_EQ(reply.status, 403);
    EXPECT_EQ(reply.json()["error"], "read_only");
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(ask(port_of(reader), "GET", "/api/v1/status").json()["console"]["may_break"], false);
}

// --- events -----------------------------------------------------------------------------------

class ConsoleEvents : public ConsoleApi {
protected:
    [[nodiscard]] std::string request(std::string_view target, std::string_view more = {}) const {
        return "GET " + std::string{target} + " HTTP/1.1\r\nHost: localhost\r\n" +
               std::string{more} + "\r\n";
    }
    // The position of the event that the text was found in.
    static std::string position_before(const std::string& text, std::string_view word) {
        const auto at = text.rfind("id: ", text.find(word));
        return text.substr(at + 4, text.find('\n', at) - at - 4);
    }
};

TEST_F(ConsoleEvents, ArriveAsTheyHappen) {
    const auto before = node_.acquire("jobs/0");
    RawClient client{port_};
    client.send(request("/api/v1/events?prefix=jobs/"));
    EXPECT_NE(client.read_until("event: begin").find("text/event-stream"), std::string::npos);
    auto hold = node_.acquire("jobs/1", {.label = "nightly", .caching = Caching::off});
    const auto other = node_.acquire("other");
    EXPECT_FALSE(hold.release());
    const auto told = client.read_until("\"released\"");
    EXPECT_NE(told.find("\"event\":\"granted\""), std::string::npos);
    EXPECT_NE(told.find("\"label\":\"nightly\""), std::string::npos);
    EXPECT_EQ(told.find("jobs/0"), std::string::npos);  // the state is not told
    EXPECT_EQ(told.find("other"), std::string::npos);
    EXPECT_EQ(told.find("\"gap\""), std::string::npos);
}

TEST_F(ConsoleEvents, ContinueAfterTheLastOneThatABrowserHas) {
    std::string position;
    auto hold = node_.acquire("jobs/1", {.caching = Caching::off});
    {
        RawClient client{port_};
        client.send(request("/api/v1/events?prefix=jobs/"));
        client.read_until("event: begin");
        hold.set_value("x");
        const auto told = client.read_until("value_set\"");
        position = position_before(told, "value_set");
    }
    EXPECT_FALSE(hold.release());
    RawClient client{port_};
    client.send(request("/api/v1/events?prefix=jobs/", "Last-Event-ID: " + position + "\r\n"));
    const auto told = client.read_until("\"released\"");
    EXPECT_NE(told.find("\"released\""), std::string::npos);
    EXPECT_EQ(told.find("value_set"), std::string::npos);
    EXPECT_EQ(told.find("\"gap\""), std::string::npos);
    EXPECT_NE(told.find("\"late\":true"), std::string::npos);  // it happened before
    const auto next = node_.acquire("jobs/2", {.caching = Caching::off});
    const auto live = client.read_until("\"jobs/2\"");
    EXPECT_EQ(live.rfind("\"late\""), live.find("\"late\"")) << live;
    // The same with the position in the address, for a reader that begins a new stream.
    RawClient other{port_};
    other.send(request("/api/v1/events?prefix=jobs/&from=" + position));
    const auto again = other.read_until("\"jobs/2\"");
    EXPECT_NE(again.find("\"released\""), std::string::npos);
    EXPECT_EQ(again.find("\"gap\""), std::string::npos);
    EXPECT_EQ(get("/api/v1/events?from=nonsense").status, 400);
}

// A page that was open before the cluster was begun anew continues with what it saw last.
TEST_F(ConsoleEvents, AreAGapForAReaderOfAnotherCluster) {  // S46
    std::string position;
    {
        Node former{Config::in_memory()};
        const Console there{former, any_port()};
        RawClient client{port_of(there)};
        client.send(request("/api/v1/events"));
        position = position_before(client.read_until("state_complete"), "state_complete");
    }
    for (int i = 0; i < 10; ++i)
        (void)node_.acquire("jobs/1", {.caching = Caching::off}).release();
    RawClient client{port_};
    client.send(request("/api/v1/events", "Last-Event-ID: " + position + "\r\n"));
    const auto told = client.read_until("event: begin");
    EXPECT_NE(told.find("\"gap\""), std::string::npos) << told;
    EXPECT_EQ(told.find("\"released\""), std::string::npos) << told;
}

TEST_F(ConsoleEvents, TellWhatTheNodeTellsOfItself) {
    RawClient client{port_};
    client.send(request("/api/v1/events"));
    client.read_until("event: begin");
    const auto hold = node_.acquire("stuck");
    EXPECT_EQ(post_break(break_of("stuck", hold.token())).status, 200);
    const auto told = client.read_until("\"lock_broken\"");
    EXPECT_NE(told.find("event: node"), std::string::npos);
    EXPECT_NE(told.find("\"text\":\"it hangs\""), std::string::npos);
}

TEST_F(ConsoleEvents, StreamsAreBoundedAndFreedWhenABrowserLeaves) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_unique<RawClient>(port_));
        clients.back()->send(request("/api/v1/events"));
        clients.back()->read_until("event: begin");
    }
    EXPECT_EQ(get("/api/v1/events").status, 503);
    EXPECT_EQ(json("/api/v1/status")["console"]["streams"], 8);
    clients.pop_back();
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (json("/api/v1/status")["console"]["streams"] == 8 &&
           std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(50ms);
    RawClient next{port_};
    next.send(request("/api/v1/events"));
    EXPECT_NE(next.read_until("event: begin").find("event: begin"), std::string::npos);
}

}  // namespace
}  // namespace mortise::tests
