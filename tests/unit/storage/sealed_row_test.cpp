// Rows that were altered above RocksDB's own checksums, in its memory or in ours: each is detected.
#include "storage/rocks/sealed_row.hpp"

#include <functional>

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "storage/log/log_rows.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

class SealedRowDamage : public testing::Test {
protected:
    void SetUp() override {
        auto node = open_directory(path_, as_node_1());
        ASSERT_TRUE(node) << node.error().what;
        auto write = votes(1, n1);
        write.append = {commands(log_id(1, 1), "first"), commands(log_id(1, 2), "second"),
                        commands(log_id(1, 3), "third")};
        ASSERT_TRUE(put(*node, write));
        ASSERT_TRUE(node->state_store->write({log_id(1, 2), {}, rows_at(LogIndex{2})}));
        ASSERT_TRUE(node->state_store->flush());
    }

    // Alters each row of that database in turn, so that RocksDB detects nothing wrong with it.
    void expect_noticed(const std::string& database,
                        const std::function<void(std::string& value)>& alter) {
        const auto rows = rows_in(database);
        ASSERT_FALSE(rows.empty());
        for (const auto& [key, value] : rows) {
            auto altered = value;
            alter(altered);
            put_row(database, key, altered);
            expect_damaged(key);
            put_row(database, key, value);
        }
        const auto node = open_directory(path_, as_node_1());
        EXPECT_TRUE(node) << node.error().what;
    }

    void expect_damaged(const std::string& key) {
        const auto node = open_directory(path_, as_node_1());
        ASSERT_FALSE(node) << key;
        EXPECT_EQ(node.error().code, Errc::damaged) << node.error().what;
    }
    std::unique_ptr<rocksdb::DB> open(const std::string& database) {
        rocksdb::DB* db = nullptr;
        const auto status = rocksdb::DB::Open({}, (path_ / database).string(), &db);
        EXPECT_TRUE(status.ok()) << status.ToString();
        return std::unique_ptr<rocksdb::DB>{db};
    }
    std::map<std::string, std::string> rows_in(const std::string& database) {
        const auto db = open(database);
        const std::unique_ptr<rocksdb::Iterator> rows{db->NewIterator({})};
        std::map<std::string, std::string> found;
        for (rows->SeekToFirst(); rows->Valid(); rows->Next())
            found.emplace(rows->key().ToString(), rows->value().ToString());
        return found;
    }
    void put_row(const std::string& database, const std::string& key, const std::string& value) {
        const auto db = open(database);
        rocksdb::WriteOptions synced;
        synced.sync = true;
        EXPECT_TRUE(db->Put(synced, key, value).ok());
    }

    TemporaryDirectory directory_;
    std::filesystem::path path_ = directory_.data();
};

// It has the right checksum, at the place of another one that had the same index and term.
TEST_F(SealedRowDamage, IsNoticedWhereAnEntryIsAnotherOne) {
    const std::vector<Entry> right{commands(log_id(1, 1), "first"),
                                   commands(log_id(1, 2), "second"),
                                   commands(log_id(1, 3), "third")};
    for (std::size_t at = 0; at < right.size(); ++at) {
        const auto other = commands(right[at].id, "other");
        const auto before = at == 0 ? 0 : right[at - 1].checksum;
        const auto put_entry = [&](const Entry& entry) {
            put_row("log", entry_key(entry.id.index),
                    encode_entry_head(entry, before) + std::string{entry.payload.view()});
        };
        put_entry(other);
        expect_damaged("entry " + std::to_string(at + 1));
        put_entry(right[at]);
    }
    EXPECT_TRUE(open_directory(path_, as_node_1()));
}

TEST_F(SealedRowDamage, IsNoticedInTheMiddleOfAnyRow) {  // P5
    const auto flip = [](std::string& value) { value[value.size() / 2] ^= 4; };
    expect_noticed("state", flip);
    expect_noticed("log", flip);
}

TEST_F(SealedRowDamage, IsNoticedAtTheEndOfAnyRow) {
    const auto flip = [](std::string& value) { value.back() ^= 1; };
    expect_noticed("state", flip);
    expect_noticed("log", flip);
}

TEST_F(SealedRowDamage, IsNoticedWhenARowIsCutShort) {
    const auto cut = [](std::string& value) { value.resize(1); };
    expect_noticed("state", cut);
    expect_noticed("log", cut);
}

TEST(SealedRow, IsForItsKeyAlone) {
    const auto row = seal("key", "content");
    EXPECT_EQ(unseal("key", row), "content");
    EXPECT_EQ(unseal("other", row), std::nullopt);
    EXPECT_EQ(unseal("key", ""), std::nullopt);
    EXPECT_EQ(unseal("key", seal("key", "")), "");
    for (std::size_t at = 0; at < row.size(); ++at) {
        auto bad = row;
        bad[at] ^= 32;
        EXPECT_EQ(unseal("key", bad), std::nullopt) << at;
    }
}

}  // namespace
}  // namespace mortise::storage::test
