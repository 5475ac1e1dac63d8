#include "core/node/proposer.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

// That many commands, in approximately that many bytes if there is one.
Bytes batch_of(std::size_t commands, std::size_t bytes = 0) {
    BatchBuilder out;
    for (std::uint64_t seq = 1; seq <= commands; ++seq)
        out.add(Request{SessionId{1}, Seq{seq}, Release{Seq{1}}});
    Acquire several;
    several.which = Acquire::Which::all;
    for (std::size_t i = 0; i < names_at_once_max; ++i)
        several.names.push_back({std::string(name_bytes_max - 1, 'n') + static_cast<char>('0' + i),
                                 LockMode::exclusive});
    while (out.bytes() + names_at_once_max * (name_bytes_max + 8) < bytes)
        out.add(Request{SessionId{1}, Seq{1}, several});
    return out.take();
}

struct Taken {
    std::size_t others = 0;
    std::uint64_t renewed = 0;  // the newest number
};

class ProposerTest : public testing::Test {
protected:
    // The next entry, which every replica must be able to read.
    void take() {
        const auto batch = proposer.take_batch().payload;
        const auto commands = decode_batch(batch);
        ASSERT_TRUE(commands);
        for (const auto& command : *commands) {
            const auto* renew = std::get_if<Renew>(&command);
            if (renew == nullptr) {
                ++taken.others;
            } else {
                taken.renewed = renew->renewals.at(0).number;
            }
        }
    }
    bool add(const Bytes& batch, SessionId turn = SessionId{1}) {
        if (!proposer.takes(turn, batch.size())) return false;
        const auto commands = decode_batch(batch).value().size();
        proposer.add({turn, batch, commands, commands});
        return true;
    }
    void fill(SessionId turn = SessionId{1}) {
        const auto batch = batch_of(1, batch_bytes_max);
        while (add(batch, turn)) {
        }
    }

    Proposer proposer;
    Taken taken;
};

TEST_F(ProposerTest, TakesRenewalsAloneWhenItIsAskedTo) {
    add(batch_of(2));
    proposer.add_renewal({SessionId{1}, 7});
    const auto commands = decode_batch(proposer.take_renewals().payload);
    ASSERT_TRUE(commands);
    ASSERT_EQ(commands->size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Renew>(commands->front()));
    EXPECT_FALSE(proposer.has_renewals());
    take();
    EXPECT_EQ(taken.others, 2U);
    EXPECT_EQ(taken.renewed, 0U);
}

// A later format is used when every member reads it, whatever the format of the parts.
TEST_F(ProposerTest, WritesTheFormThatItIsAskedFor) {
    constexpr std::uint8_t invented = command_format_newest + 1;
    add(batch_of(1));
    const auto batch = proposer.take_batch(invented).payload;
    EXPECT_EQ(format_of(batch), invented);
    EXPECT_EQ(decode_batch(batch, invented).value().size(), 1U);
}

// P12: its sender only knows that this leader reads it.
TEST_F(ProposerTest, LeavesOriginsOutWhereNotEveryMemberReadsThem) {
    OpenSession opening{1, NodeId{2}, {Incarnation{3}, BootEpoch{4}}, 5, 6, false};
    opening.origin = {"db3", "backup", 4711, {}};
    BatchBuilder batch;
    batch.add(opening);
    const auto bytes = batch.take();
    for (const auto format : {command_format_oldest, command_format_of_origins}) {
        add(bytes);
        const auto proposed = proposer.take_batch(format).payload;
        EXPECT_EQ(format_of(proposed), format);
        const auto commands = decode_batch(proposed, format);
        ASSERT_TRUE(commands);
        const bool has_origin = std::get<OpenSession>(commands->front()).origin.is_set();
        EXPECT_EQ(has_origin, format == command_format_of_origins);
    }
}

TEST_F(ProposerTest, SaysTheTimeInFrontOncePerSecond) {
    const auto said = [&](std::uint64_t ms) -> std::uint64_t {
        proposer.set_time(ms);
        add(batch_of(entry_commands_max));
        const auto commands =
            decode_batch(proposer.take_batch(command_format_newest).payload).value();
        EXPECT_GE(commands.size(), entry_commands_max);
        const auto* clock = std::get_if<Clock>(&commands.front());
        return clock == nullptr ? 0 : clock->ms;
    };
    EXPECT_EQ(said(5'000), 5'000U);
    EXPECT_EQ(said(5'999), 0U);
    EXPECT_EQ(said(6'000), 6'000U);
    EXPECT_EQ(said(0), 0U);
    proposer.set_time(9'000);
    proposer.add_renewal({SessionId{2}, 7});
    const auto renewals =
        decode_batch(proposer.take_renewals(command_format_newest).payload).value();
    ASSERT_EQ(renewals.size(), 2U);
    EXPECT_EQ(renewals.front(), Command{Clock{9'000}});
}

TEST_F(ProposerTest, SaysNoTimeWhereNotEveryMemberReadsIt) {  // P12
    proposer.set_time(5'000);
    add(batch_of(1));
    EXPECT_EQ(decode_batch(proposer.take_batch(command_format_oldest).payload).value().size(), 1U);
}

TEST_F(ProposerTest, SealsWhatNobodyMayForget) {
    const OpenSession opening{1, NodeId{2}, {Incarnation{3}, BootEpoch{4}}, 5, 6, false};
    BatchBuilder batch;
    batch.add(Acknowledge{SessionId{1}, LogIndex{1}});
    EXPECT_FALSE(batch.is_sealed());
    batch.add(opening);
    EXPECT_TRUE(batch.is_sealed());
    const auto bytes = batch.take();
    EXPECT_FALSE(batch.is_sealed());
    const auto next_kind = [&] { return proposer.take_batch(command_format_newest).kind; };
    for (const bool is_on : {false, true}) {
        proposer.set_sealing({is_on, false, {}});
        proposer.add({SessionId{1}, bytes, 2, 2, true});
        add(batch_of(1));
        EXPECT_EQ(next_kind() == EntryKind::sealed_commands, is_on);
        add(batch_of(1));
        EXPECT_EQ(next_kind(), EntryKind::commands);
        proposer.set_sealing({is_on, true, {}});
        add(batch_of(1));
        EXPECT_EQ(next_kind() == EntryKind::sealed_commands, is_on);
    }
}

TEST_F(ProposerTest, RaisesTheCeilingInFrontOfTheNextEntry) {
    proposer.set_sealing({true, false, FencingToken{9}});
    add(batch_of(1));
    const auto entry = proposer.take_batch(command_format_newest);
    EXPECT_EQ(entry.kind, EntryKind::sealed_commands);
    EXPECT_EQ(decode_batch(entry.payload).value().front(), Command{RaiseCeiling{FencingToken{9}}});
    EXPECT_EQ(proposer.raised_to(), FencingToken{9});
    add(batch_of(1));
    EXPECT_EQ(proposer.take_batch(command_format_newest).kind, EntryKind::commands) << "said once";

    proposer.set_sealing({true, false, FencingToken{10}});
    proposer.add_renewal({SessionId{2}, 7});
    const auto renewals = proposer.take_renewals(command_format_newest);
    EXPECT_EQ(renewals.kind, EntryKind::sealed_commands);
    EXPECT_EQ(decode_batch(renewals.payload).value().size(), 2U);
    EXPECT_EQ(proposer.raised_to(), FencingToken{10});
    proposer.clear();
    EXPECT_FALSE(proposer.raised_to().is_set());
}

TEST_F(ProposerTest, RaisesNoCeilingWhereNotEveryMemberReadsIt) {  // P12
    proposer.set_sealing({true, false, FencingToken{9}});
    add(batch_of(1));
    EXPECT_EQ(decode_batch(proposer.take_batch(command_format_oldest).payload).value().size(), 1U);
    EXPECT_FALSE(proposer.raised_to().is_set());
}

// An entry that is too large has no effect.
TEST_F(ProposerTest, AFullEntryHasNoPlaceForTheTimeOrTheCeiling) {
    const auto full = [&](std::size_t bytes) {
        BatchBuilder out;
        std::uint64_t seq = 0;
        while (out.bytes() + 128 < bytes) {
            const std::string value(std::min(value_bytes_max, bytes - out.bytes() - 64), 'v');
            out.add(Request{SessionId{1}, Seq{++seq}, SetValue{Seq{1}, "a", value}});
        }
        while (out.bytes() < bytes)
            out.add(Sweep{});
        return out.take();
    };
    std::uint64_t time = 0;
    for (std::size_t less = 1; less < 64; ++less) {
        proposer.clear();
        proposer.set_time(clock_ms_max - 5'000 + ++time);
        proposer.set_sealing({true, false, FencingToken{token_ceiling_max}});
        const auto batch = full(batch_bytes_max - less);
        const auto commands = decode_batch(batch).value().size();
        proposer.add({SessionId{1}, batch, commands, commands});
        proposer.add_renewal({SessionId{2}, ~std::uint64_t{0}});
        const auto entry = proposer.take_batch(command_format_newest).payload;
        EXPECT_TRUE(decode_batch(entry)) << less;
    }
}

// What a session sent first goes first.
TEST_F(ProposerTest, KeepsTheOrderOfWhatIsForwarded) {
    BatchBuilder first;
    first.add(Request{SessionId{1}, Seq{1}, Upgrade{Seq{1}, true}});
    BatchBuilder second;
    second.add(Request{SessionId{1}, Seq{2}, Release{Seq{1}}});
    add(first.take());
    add(second.take());
    const auto commands = decode_batch(proposer.take_batch().payload).value();
    ASSERT_EQ(commands.size(), 2U);
    EXPECT_EQ(std::get<Request>(commands[0]).seq, Seq{1});
    EXPECT_EQ(std::get<Request>(commands[1]).seq, Seq{2});
}

// P11: who has much waiting keeps nobody else out.
TEST_F(ProposerTest, OneSessionTakesNoRoomFromTheOthers) {
    fill();
    EXPECT_FALSE(proposer.has_room(SessionId{1}));
    EXPECT_TRUE(proposer.has_room(SessionId{2}));
    EXPECT_TRUE(add(batch_of(1, batch_bytes_max), SessionId{2}));
}

TEST_F(ProposerTest, AnyNumberOfSessionsLeavesRoomForOneMore) {  // P11
    constexpr std::uint64_t turns = 300;
    // And what each may have in any case.
    constexpr std::size_t most = (std::size_t{32} << 20U) + turns * (std::size_t{64} << 10U);
    std::size_t bytes = 0;
    const auto batch = batch_of(1, batch_bytes_max / 8);
    for (std::uint64_t turn = 1; turn <= turns; ++turn) {
        while (add(batch, SessionId{turn}))
            bytes += batch.size();
    }
    EXPECT_LE(bytes, most);
    EXPECT_TRUE(proposer.has_room(SessionId{1'000}));
    EXPECT_TRUE(add(batch_of(entry_commands_max), SessionId{1'000}));
}

// P11: what each session may have in any case is bounded as well.
TEST_F(ProposerTest, SessionsWithoutNumberHaveABoundTogether) {
    std::size_t bytes = 0;
    const auto batch = batch_of(1, std::size_t{60} << 10U);
    for (std::uint64_t turn = 1; turn <= 4'000 && add(batch, SessionId{turn}); ++turn)
        bytes += batch.size();
    EXPECT_LE(bytes, std::size_t{64} << 20U);
}

// The entry that is made next has something of each.
TEST_F(ProposerTest, NobodyWaitsBehindTheBacklogOfAnother) {  // P10
    fill();
    BatchBuilder one;
    one.add(Request{SessionId{2}, Seq{1}, Release{Seq{1}}});
    ASSERT_TRUE(add(one.take(), SessionId{2}));
    std::size_t entries = 1;
    const auto is_theirs = [](const Command& command) {
        const auto* request = std::get_if<Request>(&command);
        return request != nullptr && request->session == SessionId{2};
    };
    while (std::ranges::none_of(decode_batch(proposer.take_batch().payload).value(), is_theirs))
        ++entries;
    EXPECT_LE(entries, 2U);
}

// P10: what counts is the number of names, not that of the commands.
TEST_F(ProposerTest, AnEntryHasABoundedNumberOfNames) {
    const auto batch = batch_of(2);
    for (int i = 0; i < 10; ++i)
        proposer.add({SessionId{1}, batch, 2, 2 * names_at_once_max});
    // two commands in each
    EXPECT_EQ(decode_batch(proposer.take_batch().payload).value().size(),
              entry_commands_max / names_at_once_max);
}

TEST_F(ProposerTest, WhatTheLeaderHasToSayIsTakenHoweverMuchWaits) {  // P11
    fill();
    proposer.add(Sweep{});
    proposer.add(Expire{SessionId{1}, LogIndex{1}});
    std::size_t own = 0;
    while (proposer.has_commands()) {
        const auto commands = decode_batch(proposer.take_batch().payload);
        ASSERT_TRUE(commands);
        for (const auto& command : *commands)
            own += std::holds_alternative<Request>(command) ? 0 : 1;
    }
    EXPECT_EQ(own, 2U);
}

// Otherwise the leader would propose it again with each entry that is applied before it.
TEST_F(ProposerTest, WhatTheLeaderHasToSayGoesWithTheNextEntry) {
    fill();
    proposer.add(Sweep{});
    const auto commands = decode_batch(proposer.take_batch().payload);
    ASSERT_TRUE(commands);
    EXPECT_TRUE(std::holds_alternative<Sweep>(commands->front()));
}

// Neither excludes the other, however often both come.
TEST_F(ProposerTest, RenewalsAndFullBatchesBothGetIntoTheLog) {
    for (const auto& full : {batch_of(entry_commands_max), batch_of(1, batch_bytes_max)}) {
        proposer.clear();
        taken = {};
        for (std::uint64_t round = 1; round <= 20; ++round) {
            ASSERT_TRUE(add(full));
            proposer.add_renewal({SessionId{2}, round});
            take();
        }
        EXPECT_GE(taken.others, 9 * decode_batch(full)->size());
        EXPECT_GE(taken.renewed, 18U);
    }
}

TEST_F(ProposerTest, RenewalsTravelWithWhateverLeavesRoomForThem) {
    ASSERT_TRUE(add(batch_of(entry_commands_max - 1)));
    proposer.add_renewal({SessionId{2}, 7});
    take();
    EXPECT_EQ(taken.others, entry_commands_max - 1);
    EXPECT_EQ(taken.renewed, 7U);
    EXPECT_FALSE(proposer.has_renewals());
}

// S4: a renewal in time saves its session from an expiry that waits already.
TEST_F(ProposerTest, ARenewalGoesBeforeAnExpiry) {
    proposer.add(Expire{SessionId{2}, LogIndex{1}});
    proposer.add_renewal({SessionId{2}, 7});
    const auto commands = decode_batch(proposer.take_batch().payload);
    ASSERT_TRUE(commands);
    ASSERT_EQ(commands->size(), 2U);
    EXPECT_TRUE(std::holds_alternative<Renew>(commands->at(0)));
}

}  // namespace
}  // namespace mortise::core
