#include "tools/mortise/dump_form.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "tests/support/shown_fields.hpp"

namespace mortise::cli {
namespace {

DirectoryDump sample() {
    DirectoryDump dump;
    dump.node = 2;
    dump.incarnation = 0xab;
    dump.boot_epoch = 3;
    dump.cluster_id = "0123";
    dump.term = 5;
    dump.voted_for = 1;
    dump.first_index = 10;
    dump.last_index = 12;
    dump.last_term = 4;
    dump.applied_index = 9;
    dump.committed_index = 11;
    dump.members.push_back({1, Role::voter, "127.0.0.1:1", false, 0, false, 0xcd});
    dump.locks_index = 12;
    dump.newest_token = FencingToken::from_raw(77);
    LockInfo lock;
    lock.name = "a\tb";
    lock.holders.push_back({2, 4, "me", LockMode::shared, FencingToken::from_raw(77), 11});
    lock.waiters.push_back({1, 3, "you", LockMode::exclusive, 12, false, 0});
    lock.value = LockValue{"v\n", 6, true};
    lock.is_closed = true;
    lock.closed_under = FencingToken::from_raw(70);
    lock.closures.push_back({ClosedBy::lock_delay, lock.closed_under, Duration::max()});
    dump.locks.push_back(lock);
    dump.sessions.push_back({4, 2, 0xab, 3, std::chrono::seconds{10}, 9, 1, 0});
    dump.entries.push_back({10, 4, "commands", {"close session 1"}});
    return dump;
}

TEST(DumpForm, TellsAPersonEverythingInLines) {
    const auto text = text_of(sample(), true, false);
    for (const auto* line :
         {"node 2 of cluster 0123\n", "incarnation 00000000000000ab, boot epoch 3\n",
          "term 5, voted for node 1\n", "log: entries 10 to 12, the last one of term 4\n",
          "state on disk: index 9; committed at least up to 11\n",
          "locks after index 12, newest token 77:\n",
          "10, term 4, commands\n    close session 1\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << '\n' << text;
    EXPECT_NE(text.find("holds"), std::string::npos);
    EXPECT_NE(text.find("waits"), std::string::npos);
    EXPECT_NE(text.find("lock_delay, for an unknown time"), std::string::npos);
    EXPECT_NE(text.find("\"v\\x0a\", 2 bytes, version 6, dirty"), std::string::npos);
    EXPECT_EQ(text.find('\t'), std::string::npos) << "names are escaped";
    EXPECT_EQ(text_of(sample(), false, false).find("entries of the log"), std::string::npos);
}

TEST(DumpForm, TellsAPersonWhatTheLogMayLack) {
    auto dump = sample();
    dump.synced_index = 11;
    EXPECT_EQ(text_of(dump, false, false).find("mark:"), std::string::npos);
    dump.unsynced = "entries";
    EXPECT_NE(text_of(dump, false, false)
                  .find("mark: entries after 11 were acknowledged before they were synced\n"),
              std::string::npos);
    dump.unsynced = "forgotten";
    EXPECT_NE(text_of(dump, false, false).find("mark: entries after 11 that were acknowledged may"),
              std::string::npos);
}

TEST(DumpForm, TellsAPersonWhatANameIsUsedAs) {
    auto dump = sample();
    dump.locks.resize(4);
    dump.locks[1].latch = LatchCount{2};
    dump.locks[2].barrier = BarrierPhase{3, 1, 7, false};
    dump.locks[3].limit = SemaphoreLimit{3, 2};
    dump.locks[3].holders.resize(1);
    dump.locks[3].holders[0].slots = {0, 2};
    const auto text = text_of(dump, false, false);
    for (const auto* shown :
         {"latch: 2 remaining to be counted\n", "barrier: 1 of 3 have arrived in phase 7\n",
          "slots 0,2 ", "semaphore: 3 permits, version 2 of the limit\n"})
        EXPECT_NE(text.find(shown), std::string::npos) << shown << '\n' << text;
}

TEST(DumpForm, DamageIsToldFirst) {
    auto dump = sample();
    dump.node = 0;
    dump.cluster_id.clear();
    dump.voted_for.reset();
    dump.locks_index.reset();
    dump.last_index = 9;
    dump.damage = {"meta: it is missing"};
    dump.notes = {"this is a copy"};
    const auto text = text_of(dump, false, false);
    EXPECT_TRUE(text.starts_with("of an unknown node, of no cluster yet\n")) << text;
    EXPECT_NE(text.find("\ndamaged: meta: it is missing\nnote: this is a copy\n"),
              std::string::npos);
    EXPECT_NE(text.find("locks: they cannot be read\n"), std::string::npos);
    EXPECT_NE(text.find("log: no entry after 9\n"), std::string::npos);
}

TEST(DumpForm, JsonHasTokensAsStringsAndNullForWhatIsNotKnown) {
    auto json = json_of(sample());
    EXPECT_EQ(json.at("newest_token"), "77");
    EXPECT_EQ(json.at("voted_for"), 1);
    EXPECT_EQ(json.at("incarnation"), "00000000000000ab");
    EXPECT_EQ(json.at("locks").at(0).at("value").at("bytes"), "v\n");
    EXPECT_EQ(json.at("sessions").at(0).at("ttl_ms"), 10'000);
    EXPECT_EQ(json.at("members").at(0).at("role"), "voter");
    EXPECT_EQ(json.at("entries").at(0).at("words").at(0), "close session 1");
    auto dump = sample();
    dump.locks_index.reset();
    dump.voted_for.reset();
    dump.damage = {"\xff"};
    json = json_of(dump);
    EXPECT_TRUE(json.at("locks_index").is_null());
    EXPECT_TRUE(json.at("voted_for").is_null());
    EXPECT_NO_THROW(static_cast<void>(json.dump()));
}

TEST(DumpForm, JsonHasAllOfItsFields) {
    DirectoryDump dump;
    const auto shown = [&dump] { return json_of(dump).dump(); };
    auto& [node, incarnation, boot_epoch, cluster_id, term, voted_for, first_index, last_index,
           last_term, applied_index, committed_index, unsynced, synced_index, members, locks_index,
           newest_token, locks, sessions, entries, damage, is_newer, notes] = dump;
    using tests::expect_each_shown;
    expect_each_shown(shown, node, incarnation, boot_epoch, cluster_id, term, voted_for,
                      first_index, last_index, last_term, applied_index, committed_index, unsynced,
                      synced_index, members, locks_index, newest_token, locks, sessions, entries,
                      damage, is_newer, notes);
    {
        auto& [id, node_of, incarnation_of, boot_epoch_of, ttl, renewed_at, holds, waits] =
            sessions.front();
        expect_each_shown(shown, id, node_of, incarnation_of, boot_epoch_of, ttl, renewed_at, holds,
                          waits);
    }
    auto& [index, term_of, kind, words] = entries.front();
    expect_each_shown(shown, index, term_of, kind, words);
}

}  // namespace
}  // namespace mortise::cli
