// Since when and from where, which processes there are, and which names are looked for.
#include <future>

#include <unistd.h>

#include "tests/console/console_fixture.hpp"

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;

class ConsoleLists : public OneConsole {
protected:
    [[nodiscard]] std::string names_of(const std::string& query) const {
        std::string names;
        const auto told = json("/api/v1/locks?" + query);
        for (const auto& lock : told["locks"])
            names += lock["name"].get<std::string>() + " ";
        return names;
    }
    // The page of the lock, when its holder and its first waiter have that age at least. The marks
    // of time are a second apart, so a holder whose age is above that is older than the next one.
    [[nodiscard]] nlohmann::json aged(const std::string& name, int age_ms,
                                      bool with_waiter = false) const {
        const auto give_up = std::chrono::steady_clock::now() + 20s;
        while (true) {
            auto told = json("/api/v1/lock?name=" + name);
            const auto is_old = [&](const char* list) {
                return !told[list].empty() && told[list][0].value("age_ms", 0) >= age_ms;
            };
            const bool is_reached = is_old("holders") && (!with_waiter || is_old("waiters"));
            if (is_reached || std::chrono::steady_clock::now() > give_up) return told;
        }
    }
};

TEST_F(ConsoleLists, SaysSinceWhenAndFromWhereAHolderAndAWaiterAre) {
    const auto hold = node_.acquire("orders/42");
    auto waiting = wait_for("orders/42", {});
    const auto told = aged("orders%2F42", 400, true);
    for (const auto* const list : {"holders", "waiters"}) {
        const auto& party = told[list].at(0);
        EXPECT_GE(party["age_ms"], 400) << list;
        EXPECT_LT(party["age_ms"], 60'000) << list;
        EXPECT_EQ(party["origin"]["pid"], getpid()) << list;
        EXPECT_FALSE(party["origin"]["host"].empty()) << list;
        EXPECT_FALSE(party["origin"]["program"].empty()) << list;
    }
    node_.close();
}

TEST_F(ConsoleLists, ListsTheSessions) {
    const auto hold = node_.acquire("a", {.label = "nightly"});
    const auto told = json("/api/v1/sessions");
    EXPECT_EQ(told["sessions_total"], 1);
    ASSERT_EQ(told["sessions"].size(), 1U);
    const auto& session = told["sessions"][0];
    EXPECT_EQ(session["node"], 1);
    EXPECT_EQ(session["session"], node_.status().session);
    EXPECT_EQ(session["label"], "nightly");
    EXPECT_EQ(session["holds"], 1);
    EXPECT_EQ(session["waits"], 0);
    EXPECT_EQ(session["origin"]["pid"], getpid());
    EXPECT_TRUE(session["age_ms"].is_number());
    EXPECT_TRUE(session["left_ms"].is_number());
    node_.close();
    EXPECT_EQ(get("/api/v1/sessions").json()["error"], "node_stopped");
}

TEST_F(ConsoleLists, FindsNamesThatContainAText) {
    std::vector<Hold> holds;
    for (const auto* const name : {"a/42", "b/42", "c/17", "d/421"})
        holds.push_back(node_.acquire(name));
    EXPECT_EQ(names_of("contains=42"), "a/42 b/42 d/421 ");
    EXPECT_EQ(names_of("contains=%2f42&limit=2"), "a/42 b/42 ");
    auto told = json("/api/v1/locks?contains=42&limit=2");
    EXPECT_EQ(told["next"], "b/42");
    EXPECT_EQ(told["total"], nullptr);
    told = json("/api/v1/locks?contains=42&limit=2&after=b%2F42");
    ASSERT_EQ(told["locks"].size(), 1U);
    EXPECT_EQ(told["locks"][0]["name"], "d/421");
    EXPECT_EQ(told["next"], nullptr);
    EXPECT_EQ(names_of("contains=42&prefix=a"), "a/42 ");
    told = json("/api/v1/locks?contains=42");
    EXPECT_EQ(told["total"], 3);
    EXPECT_EQ(told["scanned"], 4);
    EXPECT_EQ(json("/api/v1/locks?limit=1")["total"], 4);
    EXPECT_EQ(json("/api/v1/locks?prefix=a")["total"], nullptr);
}

TEST_F(ConsoleLists, FindsWhatIsContendedAndSortsIt) {
    const auto a = node_.acquire("a");
    (void)aged("a", 1'100);
    const auto b = node_.acquire("b");
    (void)aged("b", 1'100);
    const auto c = node_.acquire("c");
    std::vector<std::future<Hold>> waiting;
    for (const auto* const name : {"b", "c", "c"})
        waiting.push_back(wait_for(name, {}));
    EXPECT_EQ(names_of("contended=1"), "b c ");
    EXPECT_EQ(names_of("contended=0"), "a b c ");
    EXPECT_EQ(names_of("sort=queue"), "c b a ");
    EXPECT_EQ(names_of("sort=queue&limit=1"), "c ");
    EXPECT_EQ(names_of("sort=age"), "a b c ");
    EXPECT_EQ(names_of("sort=age&contended=1&limit=1"), "b ");
    EXPECT_EQ(json("/api/v1/locks?sort=queue&limit=1")["next"], nullptr);
    EXPECT_EQ(json("/api/v1/locks?sort=queue&limit=1")["total"], 3);
    EXPECT_EQ(get("/api/v1/locks?sort=beauty").json()["error"], "bad_order");
    node_.close();
}

TEST_F(ConsoleLists, ALongerQueueThanTheFirstOnesIsFound) {
    std::vector<Hold> holds;
    for (int i = 0; i < 600; ++i)
        holds.push_back(node_.acquire("n/" + std::to_string(1'000 + i)));
    const auto waiting = wait_for("n/1599", {});
    EXPECT_EQ(names_of("sort=queue&limit=1"), "n/1599 ");
    EXPECT_EQ(json("/api/v1/locks?sort=queue&limit=1")["scanned"], 600);
    node_.close();
}

}  // namespace
}  // namespace mortise::tests
