#include "core/client/member_balance.hpp"

#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds election_timeout = 1s;
constexpr std::uint64_t places = 224;

MemberBalance balance_of(std::size_t members, std::uint64_t seed = 7) {
    return {members, election_timeout, Prng{seed}};
}

bool goes(std::uint64_t own, std::uint64_t other) {
    auto balance = balance_of(3);
    return balance.is_better({own, places}, {other, places}, Instant{});
}

TEST(MemberBalance, LooksAtAnotherMemberWithinAMinuteAndThenLessAndLess) {
    auto balance = balance_of(3);
    EXPECT_EQ(balance.due(), Instant::never());
    Instant now{};
    balance.settled(now);
    Nanoseconds longest = 60s;
    for (int i = 0; i < 8; ++i) {
        EXPECT_GE(balance.due(), now + longest / 2);
        EXPECT_LE(balance.due(), now + longest);
        now = balance.due();
        EXPECT_NE(balance.take_due(1), 1U);
        EXPECT_EQ(balance.due(), Instant::never());
        EXPECT_FALSE(balance.is_better({5, places}, {5, places}, now));
        longest = std::min<Nanoseconds>(2 * longest, 16min);
    }
    balance.settled(now);
    EXPECT_LE(balance.due(), now + 60s);
    balance.left();
    EXPECT_EQ(balance.due(), Instant::never());
}

TEST(MemberBalance, LooksAtEveryOtherMember) {
    auto balance = balance_of(3);
    std::set<std::size_t> seen;
    for (int i = 0; i < 50; ++i)
        seen.insert(balance.take_due(2));
    EXPECT_EQ(seen, (std::set<std::size_t>{0, 1}));
}

TEST(MemberBalance, HasNothingToLookAtWithOneMember) {
    auto balance = balance_of(1);
    balance.settled(Instant{});
    EXPECT_EQ(balance.due(), Instant::never());
}

TEST(MemberBalance, GoesWhereThereAreClearlyFewer) {
    EXPECT_TRUE(goes(2, 0));
    EXPECT_FALSE(goes(1, 0));
    EXPECT_FALSE(goes(2, 1));
    EXPECT_TRUE(goes(130, 100));
    EXPECT_FALSE(goes(125, 100));
    EXPECT_FALSE(goes(100, 130));
}

TEST(MemberBalance, GoesOnlyWhereItWillBeServed) {
    auto balance = balance_of(3);
    EXPECT_FALSE(balance.is_better({200, places}, {}, Instant{}));  // it does not say
    EXPECT_FALSE(balance.is_better({}, {0, places}, Instant{}));
    EXPECT_FALSE(balance.is_better({200, places}, {7, 7}, Instant{}));
    EXPECT_TRUE(balance.is_better({200, places}, {6, 7}, Instant{}));
}

// All of them are at one of three members, which is what a rolling restart leaves behind.
TEST(MemberBalance, ManyClientsSpreadAndThenStay) {
    constexpr std::size_t clients = 150;
    struct Client {
        MemberBalance balance;
        std::size_t at = 0;
        int moves = 0;
    };
    std::vector<Client> all;
    std::vector<std::uint64_t> loads{clients, 0, 0};
    for (std::size_t i = 0; i < clients; ++i) {
        all.push_back({balance_of(3, i)});
        all.back().balance.settled(Instant{});
    }
    const auto run = [&](Instant from, Nanoseconds time) {
        int moves = 0;
        for (auto now = from; now < from + time; now = now + 100ms) {
            for (auto& client : all) {
                if (client.balance.due() > now) continue;
                const auto other = client.balance.take_due(client.at);
                if (!client.balance.is_better({loads[client.at], places}, {loads[other], places},
                                              now))
                    continue;
                --loads[client.at];
                ++loads[client.at = other];
                ++client.moves;
                ++moves;
                client.balance.settled(now);
            }
        }
        return moves;
    };
    EXPECT_LT(run(Instant{}, 15s), 1);  // nobody hurries
    run(Instant{} + 15s, 5min);
    for (const auto load : loads) {
        EXPECT_GE(load, 40U);
        EXPECT_LE(load, 60U);
    }
    for (const auto& client : all)
        EXPECT_LE(client.moves, 2);
    EXPECT_EQ(run(Instant{} + 315s, 1h), 0);
}

}  // namespace
}  // namespace mortise::core
