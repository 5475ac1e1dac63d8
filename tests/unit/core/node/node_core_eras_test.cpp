// What a node does when a majority may have forgotten what it acknowledged, and so that little is
// forgotten (docs/decisions/0095).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::uint32_t ttl_ms = 2'000;

Configuration of_one_voter() {
    auto configuration = voters({1});
    configuration.durability = Durability::replicated;
    return configuration;
}

// The only voter, at its start: the log has a session, and the era at 3 if it is not applied yet.
HandDrivenNode node_with(LockMachine machine, bool is_applied, SavedCountdowns saved) {
    auto state = disk_with(of_one_voter(), {Term{1}, n1}, {1});
    state.entries.push_back(make_entry(log_id(1, 3), EntryKind::era, {}));
    state.applied = LogIndex{is_applied ? 3U : 2U};
    return HandDrivenNode{node_options(1, {1}),
                          NodeState{std::move(state), std::move(machine), std::move(saved), {}}};
}

LockMachine machine_with_a_session() {
    LockMachine machine;
    Outcomes outcomes;
    machine.apply(LogIndex{2}, {opening_of(n2, ttl_ms)}, outcomes);
    return machine;
}

void run_until(HandDrivenNode& node, Instant until) {
    while (node.core().deadline() < until) {
        node.timer_when_due();
        node.complete_writes();
    }
}

bool is_open(const HandDrivenNode& node) {
    return node.core().agent().open_session().has_value();
}

TEST(NodeCoreEras, OpenSessionsAgainWhenAQuorumHasCountedTheLongestLease) {  // P2, P3
    auto node = node_with(machine_with_a_session(), false, {});
    const auto cluster = node.core().changes().cluster();
    while (node.core().applied_index() < LogIndex{3}) {
        node.timer_when_due();
        node.complete_writes();
    }
    const auto began = node.now;
    EXPECT_TRUE(node.core().machine().sessions().all().empty());
    run_until(node, began + 1'990ms);
    EXPECT_TRUE(node.core().machine().eras().closing.has_value());
    EXPECT_FALSE(is_open(node));
    // The agent has asked before, and asks again by itself.
    run_until(node, began + 2'010ms + election_timeout);
    EXPECT_FALSE(node.core().machine().eras().closing.has_value());
    EXPECT_TRUE(is_open(node));
    // The places of the era before may have had other changes (S46).
    EXPECT_NE(node.core().changes().cluster(), cluster);
    EXPECT_NE(node.core().changes().cluster(), 0U);
}

// The client has received more of the log than is left.
TEST(NodeCoreEras, AClientThatSawWhatIsLostIsToldTheStateAtOnce) {  // S49
    auto node = node_with(machine_with_a_session(), false, {});
    const ClientPosition seen{LogIndex{1'000}};
    node.step(ClientSaid{ClientId{1}, {Attach{7, seen}}});
    while (node.core().applied_index() < LogIndex{3}) {
        EXPECT_THAT(node.notices, testing::IsEmpty());
        node.timer_when_due();
        node.complete_writes();
    }
    ASSERT_FALSE(node.notices.empty());
    EXPECT_TRUE(node.notices.front().second.state);
    EXPECT_GT(node.notices.front().second.applied, seen);
}

TEST(NodeCoreEras, GoOnWithTheTimeThatWasSaved) {  // S4
    for (const bool is_saved : {true, false}) {
        auto machine = machine_with_a_session();
        Outcomes outcomes;
        machine.begin_era(LogIndex{3}, outcomes);
        SavedCountdowns saved;
        if (is_saved) saved.closures.push_back({machine.eras().closing->id, 500ms});
        auto node = node_with(std::move(machine), true, std::move(saved));
        run_until(node, start + 1'490ms);
        EXPECT_TRUE(node.core().machine().eras().closing.has_value());
        run_until(node, start + 1'990ms);
        EXPECT_EQ(node.core().machine().eras().closing.has_value(), !is_saved);
    }
}

// The entries with commands of a node that leads alone, and opens its session.
std::vector<Entry> entries_of(const Configuration& configuration) {
    auto options = node_options(1, {1});
    options.durability = configuration.durability;
    HandDrivenNode node{std::move(options), disk_with(configuration, {Term{1}, n1}, {})};
    run_until(node, start + 5 * election_timeout);
    for (const std::uint64_t tag : {1, 2}) {
        node.acquire(tag, "a" + std::to_string(tag));
        node.complete_writes();
        EXPECT_TRUE(node.was_answered<Acquired>(tag));
    }
    std::vector<Entry> entries;
    const auto& log = node.raft().log();
    for (auto index = LogIndex{2}; index <= log.last().index; index = index.next()) {
        if (has_commands(log.at(index).kind)) entries.push_back(log.at(index));
    }
    return entries;
}

bool has_a_ceiling(const Entry& entry) {
    return std::ranges::any_of(decode_batch(entry.payload).value(), [](const Command& one) {
        return std::holds_alternative<RaiseCeiling>(one);
    });
}

TEST(NodeCoreEras, ALeaderSealsTheOpeningOfASessionAndTheCeiling) {
    const auto entries = entries_of(of_one_voter());
    ASSERT_GE(entries.size(), 3U);
    EXPECT_EQ(entries.front().kind, EntryKind::sealed_commands);
    EXPECT_EQ(entries.back().kind, EntryKind::commands) << "the ceiling is high above its token";
    EXPECT_EQ(std::ranges::count_if(entries, has_a_ceiling), 1);
    EXPECT_EQ(std::ranges::find_if(entries, has_a_ceiling)->kind, EntryKind::sealed_commands);
}

TEST(NodeCoreEras, ALeaderSealsNothingThatIsSyncedAnyway) {
    const auto entries = entries_of(voters({1}));
    ASSERT_GE(entries.size(), 2U);
    for (const auto& entry : entries) {
        EXPECT_EQ(entry.kind, EntryKind::commands);
        EXPECT_FALSE(has_a_ceiling(entry));
    }
}

}  // namespace
}  // namespace mortise::core::test
