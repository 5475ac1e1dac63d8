// Every system call of an opening fails in its turn. That is never taken for damage, which would
// cost the node its vote and move its content aside.
#include <cerrno>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "storage/marks/mark_store.hpp"
#include "tests/support/failing_calls.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;
using mortise::test::CallKind;
using mortise::test::failed_call;
using mortise::test::with_fault;
using Kinds = std::initializer_list<CallKind>;

constexpr Kinds changes{CallKind::create, CallKind::write, CallKind::sync, CallKind::name};
constexpr Kinds looks{CallKind::open, CallKind::read, CallKind::look, CallKind::list};

// Opens a copy of that directory while one of its calls fails, for each of them in turn. The code
// is that of each failure.
void fail_every_call(const fs::path& good, Kinds kinds, int error, Errc code,
                     const std::function<std::optional<Error>(const fs::path&)>& open,
                     const std::function<void(const fs::path&)>& expect_whole) {
    const auto path = good.parent_path() / "tried";
    std::string failed{"the first one"};
    int times_refused = 0;
    for (std::uint64_t at = 1; !failed.empty() && !testing::Test::HasFailure(); ++at) {
        fs::remove_all(path);
        fs::copy(good, path, fs::copy_options::recursive);
        std::optional<Error> refused;
        if (!with_fault({path.string(), kinds, at, error}, [&] { refused = open(path); }))
            GTEST_SKIP() << "no system call can be made to fail here";
        failed = failed_call();
        SCOPED_TRACE(failed + " fails with " + std::to_string(error));
        if (refused) {
            EXPECT_EQ(refused->code, code) << refused->what;
            ++times_refused;
        }
        expect_whole(path);
    }
    EXPECT_GT(times_refused, 0);
}

class DataDirectoryCalls : public testing::Test {
protected:
    // Both databases have tables, and the log has writes that are in none.
    void SetUp() override {
        for (std::uint64_t index = 1; index <= 2; ++index) {
            auto node = open_directory(good_, as_member());
            ASSERT_TRUE(node) << node.error().what;
            incarnation_ = node->generation.incarnation;
            ASSERT_TRUE(put(*node, appends({commands(log_id(index, index), "entry")})));
            const StateWrite write{log_id(index, index), {}, rows_at(LogIndex{index})};
            ASSERT_TRUE(node->state_store->write(write) && node->state_store->flush());
            ASSERT_TRUE(put(*node, votes(index + 1, n2)));
        }
        content_ = content_of(*open_directory(copy_of_good(), as_member()));
    }
    static OpenOptions as_member() {
        auto options = as_node_1();
        options.reserve_bytes = 4096;
        return options;
    }
    [[nodiscard]] fs::path copy_of_good() const {
        const auto copy = directory_.path() / "copy";
        fs::copy(good_, copy, fs::copy_options::recursive);
        return copy;
    }
    void fail_every(Kinds kinds, int error, Errc code) const {
        const auto open = [](const fs::path& path) -> std::optional<Error> {
            const auto node = open_directory(path, as_member(), Seams{nullptr, nullptr, {}});
            if (node) return std::nullopt;
            return node.error();
        };
        fail_every_call(good_, kinds, error, code, open,
                        [this](const fs::path& path) { expect_whole(path); });
    }
    void expect_whole(const fs::path& path) const {
        const auto node = open_directory(path, as_member());
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ(node->generation.incarnation, incarnation_);
        EXPECT_EQ(content_of(*node), content_);
        EXPECT_EQ(node->state.raft.applied, LogIndex{2});
    }

    TemporaryDirectory directory_;
    fs::path good_ = directory_.path() / "good";
    LogContent content_;
    core::Incarnation incarnation_;
};

TEST_F(DataDirectoryCalls, AnErrorOfTheDiskIsNoDamage) {
    fail_every(looks, EIO, Errc::io);
    fail_every(changes, EIO, Errc::io);
}

TEST_F(DataDirectoryCalls, AWantOfMemoryIsNoDamage) {
    fail_every(looks, ENOMEM, Errc::io);
}

TEST_F(DataDirectoryCalls, AWantOfDescriptorsIsNoDamage) {
    fail_every({CallKind::open, CallKind::create}, EMFILE, Errc::shortage);
}

TEST_F(DataDirectoryCalls, AFullVolumeIsNoDamage) {
    fail_every(changes, ENOSPC, Errc::no_space);
}

TEST_F(DataDirectoryCalls, AUsedUpQuotaIsNoDamage) {
    fail_every(changes, EDQUOT, Errc::no_space);
}

// RocksDB asserts that there are two reasons for which one may not learn whether a file exists.
TEST_F(DataDirectoryCalls, AFileSystemThatIsGoneIsNoDamageEither) {
    fail_every({CallKind::look}, ESTALE, Errc::io);
}

class MarkStoreCalls : public testing::Test {
protected:
    void SetUp() override {
        for (std::int64_t mark = 1; mark <= 2; ++mark) {
            auto store = MarkStore::open(good_);
            ASSERT_TRUE(store) << store.error().what;
            ASSERT_TRUE((*store)->raise("x", mark));
        }
    }
    void fail_every(Kinds kinds, int error, Errc code) const {
        const auto open = [](const fs::path& path) -> std::optional<Error> {
            const auto store = MarkStore::open(path, Seams{});
            if (store) return std::nullopt;
            return store.error();
        };
        fail_every_call(good_, kinds, error, code, open, [](const fs::path& path) {
            const auto store = MarkStore::open(path);
            ASSERT_TRUE(store) << store.error().what;
            EXPECT_EQ(*(*store)->mark("x"), std::optional<std::int64_t>{2});
        });
    }

    TemporaryDirectory directory_;
    fs::path good_ = directory_.path() / "good";
};

TEST_F(MarkStoreCalls, AnErrorOfTheDiskIsNoDamage) {
    fail_every(looks, EIO, Errc::io);
    fail_every(changes, EIO, Errc::io);
}

TEST_F(MarkStoreCalls, AFullVolumeIsNoDamage) {
    fail_every(changes, ENOSPC, Errc::no_space);
}

TEST_F(MarkStoreCalls, AWantOfDescriptorsIsNoDamage) {
    fail_every({CallKind::open, CallKind::create}, EMFILE, Errc::shortage);
}

}  // namespace
}  // namespace mortise::storage::test
