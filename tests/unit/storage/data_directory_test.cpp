// The owner of a directory, and the errors for one that cannot be used.
#include <csignal>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/result.hpp"
#include "storage/base/host.hpp"
#include "storage/files/directory_lock.hpp"
#include "storage/files/meta_file.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;

class DataDirectory : public testing::Test {
protected:
    Result<Opened> open(const OpenOptions& options = as_node_1()) {
        return open_directory(path_, options);
    }
    void expect_refused(const fs::path& path, const OpenOptions& options, Errc code) {
        const auto node = open_directory(path, options);
        ASSERT_FALSE(node) << path;
        EXPECT_EQ(node.error().code, code) << node.error().what;
        EXPECT_NE(node.error().what.find(directory_.path().string()), std::string::npos)
            << node.error().what;
    }

    TemporaryDirectory directory_;
    fs::path path_ = directory_.data();
};

TEST_F(DataDirectory, IsForOneNodeAtATime) {
    auto first = open();
    ASSERT_TRUE(first) << first.error().what;
    const auto second = open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::locked);
    EXPECT_EQ(second.error().what, path_.string() + " is in use by this process");
    // Process 1 of one container is not process 1 of another one.
    const auto pid = std::to_string(::getpid());
    const auto says = [&](const std::string& words, const std::string& by) {
        std::ofstream{path_ / "LOCK"} << words << '\n';
        EXPECT_EQ(open().error().what, path_.string() + " is in use by " + by);
    };
    const std::string elsewhere = " of another pid namespace";
    says(pid + " 1", "process " + pid + elsewhere + ", such as that of a container");
    says("7 1", "process 7" + elsewhere + ", such as that of a container");
    says("7 " + std::to_string(pid_namespace()), "process 7");
    says(pid, "this process, or process " + pid + elsewhere);  // as earlier versions wrote it
    says("7", "process 7");
    says("nonsense", "a process");
    // It is in use as long as any part of it is.
    auto log = std::move(first->log);
    *first = {};
    EXPECT_FALSE(open());
    log.reset();
    EXPECT_TRUE(open());
}

// Programs that clean up temporary files remove files that were not written for a while.
TEST_F(DataDirectory, IsInUseAlsoWhenItsFilesWereRemoved) {
    const auto first = open();
    ASSERT_TRUE(first);
    fs::remove(path_ / "LOCK");
    for (const auto& entry : fs::recursive_directory_iterator{path_}) {
        if (entry.path().filename() == "LOCK") fs::remove(entry.path());
    }
    const auto second = open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::locked);
    EXPECT_EQ(second.error().what, path_.string() + " is in use by a process");
}

TEST_F(DataDirectory, SaysWhenSomebodyElseLockedIt) {
    ASSERT_TRUE(open());
    const int other = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(other, LOCK_EX), 0);
    expect_refused(path_, as_node_1(), Errc::locked);
    EXPECT_NE(open().error().what.find("by another program"), std::string::npos);
    ::close(other);
    EXPECT_TRUE(open());
}

// Network file systems cannot lock directories: there LOCK is what excludes others.
TEST_F(DataDirectory, IsLockedByItsFileAsWell) {
    ASSERT_TRUE(open());
    const int other = ::open((path_ / "LOCK").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(other, LOCK_EX), 0);
    expect_refused(path_, as_node_1(), Errc::locked);
    const auto reader = DirectoryLock::keep_out(path_, nullptr);
    EXPECT_TRUE(!reader && reader.error().code == Errc::locked);
    ::close(other);
    EXPECT_TRUE(open());
}

// Another process has removed LOCK and made a new one, which somebody else may lock.
class ReplacedLockFile final : public FileProbe {
public:
    int before(FileStep /*step*/, const fs::path& /*path*/) override { return 0; }
    void after(FileStep step, const fs::path& path) override {
        if (step != FileStep::open || path.filename() != "LOCK") return;
        fs::remove(path);
        std::ofstream{path} << "new";
    }
};

TEST_F(DataDirectory, IsNotLockedByAFileThatIsGone) {
    ASSERT_TRUE(open());
    ReplacedLockFile other;
    const auto lock = DirectoryLock::take(path_, &other);
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().code, Errc::locked) << lock.error().what;
}

// Another process may have made a new one in its place, and would not see what is written.
TEST_F(DataDirectory, IsNotWrittenAnyMoreWhenItWasMoved) {
    for (const bool is_replaced : {false, true}) {
        SCOPED_TRACE(is_replaced);
        auto node = open();
        ASSERT_TRUE(node && put(*node, votes(1, n1)));
        fs::rename(path_, directory_.path() / (is_replaced ? "second" : "first"));
        if (is_replaced) fs::create_directory(path_);
        const auto refused = put(*node, votes(2, n2));
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().what.find("was moved or removed"), std::string::npos)
            << refused.error().what;
        EXPECT_FALSE(node->state_store->save_countdowns({}));
        EXPECT_FALSE(is_replaced && !fs::is_empty(path_));
    }
}

TEST_F(DataDirectory, IsForOneProcessAtATime) {
    ASSERT_TRUE(open());
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto lock = DirectoryLock::take(path_, nullptr);
        const char said = lock ? 'y' : 'n';
        if (::write(ready[1], &said, 1) != 1) ::_exit(1);
        while (true)
            ::pause();
    }
    char said = 0;
    EXPECT_EQ(::read(ready[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    const auto refused = open();
    EXPECT_FALSE(refused);
    if (!refused) {
        EXPECT_EQ(refused.error().code, Errc::locked);
        EXPECT_EQ(refused.error().what,
                  path_.string() + " is in use by process " + std::to_string(child));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(open());
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(DataDirectory, BelongsToOneNode) {
    ASSERT_TRUE(open());
    expect_refused(path_, {n2, true, {}}, Errc::wrong_node);
    EXPECT_TRUE(open());
}

TEST_F(DataDirectory, IsMadeOnlyWhenAllowed) {
    expect_refused(path_, {n1, false, {}}, Errc::io);
    EXPECT_FALSE(fs::exists(path_));
    ASSERT_TRUE(open());
    EXPECT_TRUE(open({n1, false, {}}));
}

TEST_F(DataDirectory, IsMadeWithItsParents) {
    const auto deep = path_ / "one" / "two";
    expect_refused(deep, {n1, false, {}}, Errc::io);
    EXPECT_FALSE(fs::exists(path_));
    ASSERT_TRUE(open_directory(deep, as_node_1()));
    EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
    expect_refused(deep / "" / "meta" / "below", as_node_1(), Errc::not_a_directory);
}

TEST_F(DataDirectory, IsADirectory) {
    ASSERT_TRUE(open());
    const auto link = directory_.path() / "link";
    fs::create_directory_symlink(path_, link);
    expect_refused(link, as_node_1(), Errc::not_a_directory);
    expect_refused(link / "", as_node_1(), Errc::not_a_directory);
    EXPECT_TRUE(open_directory(path_ / "", as_node_1()));
    expect_refused(path_ / "meta", as_node_1(), Errc::not_a_directory);
}

TEST_F(DataDirectory, IsForItsOwnerAlone) {
    const auto mask = ::umask(0);
    {
        auto node = open();
        ASSERT_TRUE(node && put(*node, votes(1, n1)));
        ASSERT_TRUE(node->state_store->flush() && node->state_store->save_countdowns({}));
    }
    ASSERT_TRUE(open());
    ::umask(mask);
    EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
    for (const auto& entry : fs::recursive_directory_iterator{path_}) {
        const auto expected = entry.is_directory() ? fs::perms::owner_all
                                                   : fs::perms::owner_read | fs::perms::owner_write;
        EXPECT_EQ(entry.status().permissions(), expected) << entry.path();
    }
}

// S10.
TEST_F(DataDirectory, KnowsThatItsFormerLifeEnded) {
    ASSERT_FALSE(open()->former_life_ended);
    EXPECT_TRUE(open()->former_life_ended);
    const auto copy = directory_.path() / "copy";
    fs::copy(path_, copy, fs::copy_options::recursive);
    EXPECT_FALSE(open_directory(copy, as_node_1())->former_life_ended);
    auto file = MetaFile::open(path_ / "meta", nullptr);
    ASSERT_TRUE(file);
    auto meta = file->meta();
    EXPECT_EQ(meta.life.boot_id, kernel_boot_id());
    meta.life.boot_id.back() = meta.life.boot_id.back() == '0' ? '1' : '0';
    ASSERT_TRUE(file->write(meta, Durable::yes));
    EXPECT_FALSE(open()->former_life_ended);
    EXPECT_TRUE(open()->former_life_ended);
}

// A restored backup or a copied disk may be older than what the node has said since.
TEST_F(DataDirectory, KnowsThatItIsACopy) {
    EXPECT_FALSE(open()->is_copy);
    EXPECT_FALSE(open()->is_copy);
    const auto copy = directory_.path() / "copy";
    fs::copy(path_, copy, fs::copy_options::recursive);
    EXPECT_TRUE(open_directory(copy, as_node_1())->is_copy);
    EXPECT_FALSE(open_directory(copy, as_node_1())->is_copy);
    const auto moved = directory_.path() / "moved";
    fs::rename(path_, moved);
    EXPECT_FALSE(open_directory(moved, as_node_1())->is_copy);
}

TEST_F(DataDirectory, TrustsLocksOfLocalFileSystemsOnly) {
    EXPECT_TRUE(is_local_file_system(0xef53));       // ext4
    EXPECT_TRUE(is_local_file_system(0x58465342));   // xfs
    EXPECT_FALSE(is_local_file_system(0x6969));      // nfs
    EXPECT_FALSE(is_local_file_system(0x65735546));  // fuse
    EXPECT_FALSE(is_local_file_system(0xff534d42));  // cifs
}

// Its name is synced, although a symbolic link leads to it.
TEST_F(DataDirectory, MayBeInADirectoryThatIsALink) {
    fs::create_directory(directory_.path() / "real");
    fs::create_directory_symlink("real", directory_.path() / "link");
    path_ = directory_.path() / "link" / "data";
    const auto node = open();
    EXPECT_TRUE(node) << node.error().what;
}

TEST_F(DataDirectory, HasAnIncarnationOfItsOwn) {
    const auto first = open()->generation.incarnation;
    EXPECT_EQ(open({n1, true, {1, 2}})->generation.incarnation, first);
    fs::remove_all(path_);
    EXPECT_NE(open({n1, true, {1, 2}})->generation.incarnation, first);
    EXPECT_NE(open_in_memory({n1, true, {1, 2}}).generation.incarnation,
              open_in_memory({n1, true, {1, 3}}).generation.incarnation);
}

TEST(MetaFile, HasTheNewestWriteOfEitherKind) {
    const TemporaryDirectory directory;
    const auto path = directory.path() / "meta";
    Meta meta;
    meta.node = n1;
    ASSERT_TRUE(MetaFile::create(path, meta, nullptr));
    core::Prng prng{3};
    for (std::uint64_t i = 1; i < 40; ++i) {
        auto file = MetaFile::open(path, nullptr);
        ASSERT_TRUE(file);
        EXPECT_EQ(file->meta(), meta);
        for (auto writes = 1 + prng.below(3); writes > 0; --writes) {
            meta.last = meta.synced = {log_id(i, i + writes), prng.next()};
            meta.unsynced = static_cast<core::Unsynced>(prng.below(3));
            ASSERT_TRUE(file->write(meta, prng.one_in(2) ? Durable::yes : Durable::no));
            EXPECT_EQ(file->meta(), meta);
        }
    }
    EXPECT_EQ(fs::file_size(path), MetaFile::slots * MetaFile::slot_bytes);
}

// After a loss of power a page that was written and not synced has anything.
TEST(MetaFile, KeepsTheNewestSyncedWriteWhateverIsLost) {
    const TemporaryDirectory directory;
    const auto path = directory.path() / "meta";
    Meta meta;
    meta.node = n1;
    ASSERT_TRUE(MetaFile::create(path, meta, nullptr));
    auto file = MetaFile::open(path, nullptr);
    ASSERT_TRUE(file);
    const auto bytes = [&] {
        std::ifstream in{path, std::ios::binary};
        return std::string{std::istreambuf_iterator<char>{in}, {}};
    };
    auto synced = meta;
    auto image = bytes();
    core::Prng prng{5};
    for (std::uint64_t i = 1; i < 60 && !testing::Test::HasFailure(); ++i) {
        meta.last = meta.synced = {log_id(i, i), prng.next()};
        const auto durable = prng.one_in(3) ? Durable::yes : Durable::no;
        ASSERT_TRUE(file->write(meta, durable));
        auto torn = bytes();
        for (std::size_t at = 0; at < torn.size(); at += MetaFile::slot_bytes) {
            if (torn.compare(at, MetaFile::slot_bytes, image, at, MetaFile::slot_bytes) != 0)
                torn.replace(at, MetaFile::slot_bytes, MetaFile::slot_bytes, 'x');
        }
        std::ofstream{directory.path() / "torn", std::ios::binary} << torn;
        const auto found = MetaFile::read(directory.path() / "torn", nullptr);
        ASSERT_TRUE(found) << found.error().what;
        EXPECT_EQ(*found, synced) << "write " << i;
        if (durable == Durable::no) continue;
        synced = meta;
        image = bytes();
    }
}

TEST(ResultOfWork, IsAValueOrAnError) {
    Result<std::string> value{"text"};
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, "text");
    EXPECT_EQ(value->size(), 4U);
    EXPECT_EQ(value.value_or("other"), "text");
    EXPECT_THROW(static_cast<void>(value.error()), core::InvariantBroken);
    EXPECT_EQ(*std::move(value), "text");
    const Result<std::string> error{make_error(Errc::locked, "why")};
    ASSERT_FALSE(error.has_value());
    EXPECT_EQ(error.error().what, "why");
    EXPECT_EQ(error.error().code, Errc::locked);
    EXPECT_EQ(error.value_or("other"), "other");
    EXPECT_THROW(static_cast<void>(error.value()), core::InvariantBroken);
}

TEST(ResultOfWork, MayBeNothing) {
    const Result<void> done;
    EXPECT_TRUE(done);
    EXPECT_NO_THROW(done.value());
    EXPECT_THROW(static_cast<void>(done.error()), core::InvariantBroken);
    const Result<void> failed{make_error(Errc::io, "why")};
    EXPECT_FALSE(failed);
    EXPECT_EQ(failed.error().what, "why");
    EXPECT_THROW(failed.value(), core::InvariantBroken);
}

}  // namespace
}  // namespace mortise::storage::test
