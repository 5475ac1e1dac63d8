// What readers learn (S11, S20, S46).
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockViews : public LockMachineTest {
protected:
    std::vector<std::string> names(std::string_view prefix, std::string_view after,
                                   std::size_t limit) const {
        std::vector<std::string> found;
        for (const auto& view : machine_.list(prefix, after, limit))
            found.push_back(view.name);
        return found;
    }
    using Names = std::vector<std::string>;
};

TEST_F(LockViews, AnUnknownNameIsEmpty) {
    const auto view = machine_.inspect("nobody");
    EXPECT_EQ(view.name, "nobody");
    EXPECT_TRUE(view.holders.empty());
    EXPECT_TRUE(view.waiters.empty());
    EXPECT_TRUE(machine_.list("", "", 10).empty());
}

TEST_F(LockViews, HoldersAndWaitersAreListedWithTheirBegin) {
    put(request(1, 1, Acquire{{{"a", exclusive}}, true, QueuePolicy::fifo, false, "first"}));
    put(request(2, 1, Acquire{{{"a", shared}}, true, {}, false, "second"}));
    auto view = machine_.inspect("a");
    EXPECT_EQ(view.policy, QueuePolicy::fifo);
    EXPECT_EQ(view.holders,
              (std::vector<Grant>{
                  {{SessionId{1}, Seq{1}}, exclusive, FencingToken{1}, LogIndex{4}, "first"}}));
    EXPECT_EQ(view.waiters, (std::vector<LockView::Waiting>{
                                {{SessionId{2}, Seq{1}}, shared, LogIndex{5}, "second", 0, {}}}));
    EXPECT_EQ(view.nodes, (std::map<SessionId, NodeId>{
                              {SessionId{1}, machine_.views().node_of(SessionId{1})},
                              {SessionId{2}, machine_.views().node_of(SessionId{2})}}));
    put(release(1, 2, 1));
    view = machine_.inspect("a");
    ASSERT_EQ(view.holders.size(), 1U);
    EXPECT_EQ(view.holders[0].since, LogIndex{6});  // held since then, asked for before
    EXPECT_EQ(view.holders[0].label, "second");
}

TEST_F(LockViews, EndedSessionsAreLeftOutSweptOrNot) {
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    put(acquire(1, 2, exclusive));
    put(acquire(3, 1, exclusive));
    put(acquire(1, 3, exclusive, "b"));
    put(expiry(1));
    EXPECT_EQ(shown(), "2:S:1 | 3:X");
    EXPECT_EQ(names("", "", 10), Names{"a"});
    while (machine_.needs_sweep())
        put(Sweep{});
    EXPECT_EQ(shown(), "2:S:1 | 3:X");
    EXPECT_EQ(names("", "", 10), Names{"a"});
}

TEST_F(LockViews, ANameWithOnlyTracesOfEndedSessionsIsEmpty) {  // S11, S37
    put(fifo_acquire(1, 1, exclusive));
    put(fifo_acquire(1, 2, exclusive));
    put(expiry(1));
    LockView empty;
    empty.name = "a";
    EXPECT_EQ(machine_.inspect("a"), empty);
    EXPECT_TRUE(machine_.would_grant("a", exclusive));
}

TEST_F(LockViews, WouldGrantIgnoresEndedSessions) {  // S20
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, shared));
    EXPECT_FALSE(machine_.would_grant("a", shared));
    put(expiry(1));
    EXPECT_TRUE(machine_.would_grant("a", shared));
    EXPECT_TRUE(machine_.would_grant("a", update));
    EXPECT_FALSE(machine_.would_grant("a", exclusive));  // session 2 is let in first
    EXPECT_TRUE(machine_.would_grant("b", exclusive));
}

TEST_F(LockViews, PagesAreInByteOrder) {
    std::uint64_t seq = 0;
    for (const auto* name : {"b/2", "a", "b/10", "b/1", "c", "b"}) {
        put(acquire(1, ++seq, exclusive, name));
    }
    EXPECT_EQ(names("", "", 10), (Names{"a", "b", "b/1", "b/10", "b/2", "c"}));
    EXPECT_EQ(names("", "", 2), (Names{"a", "b"}));
    EXPECT_EQ(names("", "b", 2), (Names{"b/1", "b/10"}));
    EXPECT_EQ(names("", "c", 2), Names{});
    EXPECT_EQ(names("b/", "", 10), (Names{"b/1", "b/10", "b/2"}));
    EXPECT_EQ(names("b/", "a", 1), Names{"b/1"});
    EXPECT_EQ(names("b/", "b/1", 1), Names{"b/10"});
    EXPECT_EQ(names("b/", "b/11", 9), Names{"b/2"});
    EXPECT_EQ(names("b/", "zzz", 9), Names{});
    EXPECT_EQ(names("x", "", 9), Names{});
    EXPECT_EQ(names("", "", 0), Names{});
}

TEST_F(LockViews, APageIsFullDespiteEmptyNamesInBetween) {
    for (const std::uint64_t session : {1, 2}) {
        std::uint64_t seq = 0;
        for (const auto* name : {session == 1 ? "a" : "b", session == 1 ? "c" : "d"})
            put(acquire(session, ++seq, exclusive, name));
    }
    put(expiry(1));
    EXPECT_EQ(names("", "", 2), (Names{"b", "d"}));
}

// A reader gets at most this many parties, and no more are collected.
TEST_F(LockViews, NoMorePartiesAreListedThanAskedFor) {
    for (std::uint64_t seq = 1; seq <= 3; ++seq)
        put(acquire(1, seq, shared));
    for (std::uint64_t seq = 4; seq <= 6; ++seq)
        put(acquire(1, seq, exclusive));
    put(acquire(2, 1, exclusive, "b"));
    const auto view = machine_.inspect("a", 2);
    EXPECT_EQ(view.holders.size(), 2U);
    EXPECT_EQ(view.waiters.size(), 2U);
    EXPECT_EQ(view.holders_total, 3U);
    EXPECT_EQ(view.waiters_total, 3U);
    EXPECT_EQ(machine_.inspect("a").holders_total, 3U);
    EXPECT_EQ(machine_.list("", "", 10, 2).front().waiters_total, 3U);
    EXPECT_EQ(machine_.list("", "", 10, 6).size(), 1U);
    EXPECT_EQ(machine_.list("", "", 10, 7).size(), 2U);
    EXPECT_EQ(machine_.list("", "a", 10, 1).size(), 1U);
}

// Ended sessions do not count, whether their traces are cleared or not.
TEST_F(LockViews, OnlyLiveSessionsAreCounted) {
    for (std::uint64_t session = 1; session <= 3; ++session)
        put(acquire(session, 1, shared));
    put(acquire(1, 2, exclusive));
    put(acquire(2, 2, exclusive));
    put(close(1));
    for (const auto max : {std::size_t{1}, SIZE_MAX}) {
        EXPECT_EQ(machine_.inspect("a", max).holders_total, 2U);
        EXPECT_EQ(machine_.inspect("a", max).waiters_total, 1U);
    }
}

TEST_F(LockViews, SessionsAreListedWithWhatTheyHaveAndWaitFor) {
    put(acquire(1, 1, shared));
    put(request(1, 2, Acquire{{{"b", exclusive}}, true, {}, false, "a label"}));
    put(acquire(1, 3, exclusive, "c"));
    put(acquire(2, 1, shared));
    put(acquire(2, 2, exclusive, "b"));
    const auto all = machine_.views().sessions({}, 10, 100);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].id, SessionId{1});
    EXPECT_EQ(all[0].node, machine_.views().node_of(SessionId{1}));
    EXPECT_EQ(all[0].ttl_ms, machine_.sessions().find(SessionId{1})->opened.ttl_ms);
    EXPECT_EQ(all[0].label, "a label");
    EXPECT_EQ(std::pair(all[0].holds, all[0].waits), std::pair(3UL, 0UL));
    EXPECT_EQ(std::pair(all[1].holds, all[1].waits), std::pair(1UL, 1UL));
    EXPECT_EQ(std::pair(all[2].holds, all[2].waits), std::pair(0UL, 0UL));
    put(expiry(1));
    EXPECT_EQ(machine_.views().sessions({}, 10, 100).size(), 2U);
}

TEST_F(LockViews, APageOfSessionsIsBounded) {  // P11
    put(acquire(1, 1, shared));
    put(acquire(1, 2, shared, "b"));
    const auto ids = [&](SessionId after, std::size_t limit, std::size_t looks) {
        std::vector<std::uint64_t> found;
        for (const auto& view : machine_.views().sessions(after, limit, looks))
            found.push_back(view.id.raw());
        return found;
    };
    using Ids = std::vector<std::uint64_t>;
    EXPECT_EQ(ids({}, 2, 100), (Ids{1, 2}));
    EXPECT_EQ(ids(SessionId{1}, 2, 100), (Ids{2, 3}));
    EXPECT_EQ(ids(SessionId{3}, 2, 100), Ids{});
    EXPECT_EQ(ids({}, 10, 2), Ids{1});
    EXPECT_EQ(ids({}, 10, 3), (Ids{1, 2, 3}));
}

}  // namespace
}  // namespace mortise::core
