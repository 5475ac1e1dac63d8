// A directory of which this user may not read or write a part is not damaged: nothing is lost when
// the mistake is corrected.
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <rocksdb/file_system.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "storage/files/directory_lock.hpp"
#include "storage/files/files.hpp"
#include "storage/marks/mark_store.hpp"
#include "storage/rocks/own_files.hpp"
#include "tests/support/child.hpp"
#include "tests/support/failing_calls.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;
using mortise::test::CallKind;
using mortise::test::failed_call;
using mortise::test::with_fault;

constexpr uid_t nobody = 65'534;

// Rights do not count for root. As a mere system call it is for this thread, and for those that
// this thread starts.
class AsNobody {
public:
    explicit AsNobody(const fs::path& directory) {
        if (::geteuid() != 0) return;
        for (const auto& entry : fs::recursive_directory_iterator{directory})
            give(entry.path());
        give(directory);
        become(nobody);
    }
    AsNobody() { become(nobody); }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;
    ~AsNobody() {
        if (::geteuid() == nobody) become(0);
    }

private:
    static void become(uid_t user) { ::syscall(SYS_setresuid, user, user, 0); }
    static void give(const fs::path& path) {
        EXPECT_EQ(::lchown(path.c_str(), nobody, static_cast<gid_t>(-1)), 0) << path;
    }
};

class DataDirectoryRights : public testing::Test {
protected:
    DataDirectoryRights() {
        {
            auto node = open();
            EXPECT_TRUE(node && put(*node, appends({commands(log_id(1, 1))})));
            EXPECT_TRUE(node->state_store->write({log_id(1, 1), {}, rows_at(LogIndex{1})}));
            EXPECT_TRUE(node->state_store->flush());
            identity_ = node->generation.incarnation;
        }
        before_ = content_of(*open());
    }
    Result<Opened> open() {
        auto options = as_node_1();
        options.rejoins = true;
        return open_directory(directory_.data(), options);
    }
    // Opens it while that place has that mode, and again when the mode is right.
    void expect_nothing_lost(const fs::path& place, fs::perms mode) {
        SCOPED_TRACE(place.string() + " " + std::to_string(static_cast<unsigned>(mode)));
        const auto path = directory_.data() / place;
        const auto right = fs::status(path).permissions();
        {
            const AsNobody unprivileged{directory_.path()};
            fs::permissions(path, mode);
            const auto refused = open();
            EXPECT_TRUE(!refused && refused.error().code == Errc::denied)
                << (refused ? "it was opened" : refused.error().what);
            fs::permissions(path, right);
        }
        const auto again = open();
        ASSERT_TRUE(again) << again.error().what;
        EXPECT_EQ(again->set_aside, "");
        EXPECT_EQ(again->generation.incarnation, identity_);
        EXPECT_EQ(content_of(*again), before_);
    }

    TemporaryDirectory directory_;
    LogContent before_;
    core::Incarnation identity_;
};

TEST_F(DataDirectoryRights, AFolderThatMayNotBeWrittenIsNotDamaged) {
    for (const auto* place : {"log", "state"})
        expect_nothing_lost(place, fs::perms::owner_read | fs::perms::owner_exec);
}

TEST_F(DataDirectoryRights, AFolderThatMayNotBeReadIsNotDamaged) {
    for (const auto* place : {"log", "state", ""})
        expect_nothing_lost(place, fs::perms::none);
}

TEST_F(DataDirectoryRights, AFileThatMayNotBeReadIsNotDamaged) {
    for (const auto* place : {"meta", "log/CURRENT", "state/CURRENT"})
        expect_nothing_lost(place, fs::perms::none);
}

// --- what root does there

// Everything that root has in a directory of another user, and everything that others may use.
std::vector<std::string> taken_away(const fs::path& directory) {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator{directory}) {
        struct stat about {};
        EXPECT_EQ(::lstat(entry.path().c_str(), &about), 0);
        if (about.st_uid != nobody || (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
            found.push_back(entry.path().string());
    }
    return found;
}

class RootInADirectoryOfAnother : public DataDirectoryRights {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "only root can";
        const AsNobody owner{directory_.path()};
    }
};

// A service could not start any more after a command that root gave in its directory.
TEST_F(RootInADirectoryOfAnother, LeavesNothingOfRoots) {
    {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, 2))})));
        ASSERT_TRUE(node->state_store->write({log_id(1, 2), {}, rows_at(LogIndex{2})}));
        ASSERT_TRUE(node->state_store->flush());
    }
    EXPECT_THAT(taken_away(directory_.path()), testing::IsEmpty());
    const AsNobody service{directory_.path()};
    EXPECT_TRUE(open());
}

TEST_F(RootInADirectoryOfAnother, MakesADirectoryForItsOwner) {
    ASSERT_TRUE(open_directory(directory_.path() / "another", as_node_1()));
    ASSERT_TRUE(MarkStore::open(directory_.path() / "marks"));
    EXPECT_THAT(taken_away(directory_.path()), testing::IsEmpty());
}

// The volume of a container is often root's, and what is in it the service's.
TEST_F(RootInADirectoryOfAnother, LooksAtTheOwnerOfTheContent) {
    ASSERT_EQ(::chown(directory_.data().c_str(), 0, 0), 0);
    ASSERT_EQ(::unlink((directory_.data() / "LOCK").c_str()), 0);
    ASSERT_TRUE(open());
    EXPECT_THAT(taken_away(directory_.data()), testing::IsEmpty());
}

// Its owner could otherwise make root give away any file.
TEST_F(RootInADirectoryOfAnother, GivesAwayNothingThatWasThere) {
    const auto place = directory_.data() / "LOCK";
    ASSERT_EQ(::chown(place.c_str(), 0, 0), 0);
    ASSERT_TRUE(open());
    EXPECT_THAT(taken_away(directory_.path()), testing::ElementsAre(place.string()));
}

// It would have the owner of what a killed process has left there.
TEST_F(RootInADirectoryOfAnother, ReplacesAFileByANewOne) {
    const auto file = directory_.data() / "file";
    std::ofstream{directory_.data() / "file.new"} << "left";
    ASSERT_TRUE(replace_file(file, "content", Durable::yes, nullptr));
    EXPECT_THAT(taken_away(directory_.path()), testing::IsEmpty());
}

// False if it cannot be killed here.
bool open_and_be_killed_at_gift(std::uint64_t number, const fs::path& path, bool& was_killed) {
    const auto end = tests::exit_of_child([&] {
        const bool ran = with_fault({path.string(), {CallKind::give}, number, 0}, [&] {
            static_cast<void>(open_directory(path, as_node_1(), Seams{}));
        });
        return ran ? 0 : 1;
    });
    was_killed = end >= 128;
    EXPECT_TRUE(!was_killed || end == 128 + SIGKILL) << end;
    return was_killed || end == 0;
}

// Each file and each directory has to be given to its owner after it was made.
TEST_F(RootInADirectoryOfAnother, LeavesNothingOfRootsWhereverItIsKilled) {
    for (const bool is_new : {false, true}) {
        bool was_killed = true;
        for (std::uint64_t number = 1; was_killed && !HasFailure(); ++number) {
            SCOPED_TRACE(testing::Message() << (is_new ? "new, " : "") << "gift " << number);
            const auto path =
                is_new ? directory_.path() / ("new-" + std::to_string(number)) : directory_.data();
            if (!open_and_be_killed_at_gift(number, path, was_killed))
                GTEST_SKIP() << "no system call can be made to kill here";
            for (const auto& left : taken_away(directory_.path()))
                EXPECT_TRUE(left.ends_with(".unowned") && fs::is_empty(left)) << left;
            const AsNobody service;
            const auto node = open_directory(path, as_node_1());
            EXPECT_TRUE(node) << node.error().what;
            EXPECT_TRUE(is_new || content_of(*node) == before_);
        }
    }
}

// The quota of the owner may be used up, for example.
TEST_F(RootInADirectoryOfAnother, FailsWhereWhatItMakesCannotBeGivenAway) {
    std::string failed{"the first one"};
    int times_refused = 0;
    for (std::uint64_t number = 1; !failed.empty() && !HasFailure(); ++number) {
        std::optional<Result<Opened>> node;
        const auto open_it = [&] {
            node = open_directory(directory_.data(), as_node_1(), Seams{});
        };
        const auto path = directory_.path().string();
        if (!with_fault({path, {CallKind::give}, number, EDQUOT}, open_it))
            GTEST_SKIP() << "no system call can be made to fail here";
        failed = failed_call();
        SCOPED_TRACE(failed);
        if (!*node) {
            EXPECT_EQ(node->error().code, Errc::no_space) << node->error().what;
            ++times_refused;
        }
        node.reset();
        EXPECT_THAT(taken_away(directory_.path()), testing::IsEmpty());
        EXPECT_EQ(content_of(*open()), before_);
    }
    EXPECT_GT(times_refused, 0);
}

// RocksDB takes a missing file for damage. The name leads nowhere, and no link is followed; a
// volume without inodes is like that.
TEST(OwnFiles, AFileThatCannotBeCreatedIsNotAMissingOne) {
    const TemporaryDirectory directory;
    const auto lock = DirectoryLock::take(directory.path(), nullptr);
    ASSERT_TRUE(lock) << lock.error().what;
    const auto name = directory.path() / "link";
    fs::create_symlink("nowhere", name);
    std::unique_ptr<rocksdb::FSWritableFile> file;
    const auto status = own_files(*lock)->NewWritableFile(name.string(), {}, &file, nullptr);
    EXPECT_TRUE(status.IsIOError() && !status.IsPathNotFound()) << status.ToString();
}

}  // namespace
}  // namespace mortise::storage::test
