#include "transport/tls/key_files.hpp"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mortise::transport {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

class KeyFiles : public testing::Test {
protected:
    KeyFiles() {
        auto name = (fs::temp_directory_path() / "mortise-key-files-XXXXXX").string();
        if (::mkdtemp(name.data()) != nullptr) directory_ = name;
    }
    ~KeyFiles() override {
        ::umask(umask_);
        std::error_code ignored;
        fs::remove_all(directory_, ignored);
    }

    [[nodiscard]] fs::path at(const char* name) const { return directory_ / name; }
    [[nodiscard]] KeyPairPaths paths() const { return {at("one.pem"), at("one.key")}; }
    static Issued pair() {
        return {"the certificate\n", Secret{"the key, which is longer than a short string\n"}};
    }
    static mode_t mode_of(const fs::path& path) {
        struct stat status {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        return status.st_mode & 07777U;
    }
    static void put(const fs::path& path, const std::string& text, mode_t mode) {
        std::ofstream{path} << text;
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator{directory_}, fs::directory_iterator{}));
    }

    mode_t umask_ = ::umask(022);
    fs::path directory_;
};

TEST_F(KeyFiles, HaveTheirModesWhateverTheUmask) {
    for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{0777}}) {
        ::umask(mask);
        const auto written = write_key_pair(paths(), pair());
        ASSERT_TRUE(written) << written.error().what;
        EXPECT_EQ(mode_of(at("one.key")), 0600U);
        EXPECT_EQ(mode_of(at("one.pem")), 0644U);
        EXPECT_EQ(files(), 2U);
        fs::remove(at("one.key"));
        fs::remove(at("one.pem"));
    }
}

TEST_F(KeyFiles, AreReadAsTheyWereWritten) {
    ASSERT_TRUE(write_key_pair(paths(), pair()));
    EXPECT_EQ(read_certificate_file(at("one.pem")).value(), pair().certificate);
    EXPECT_EQ(read_key_file(at("one.key")).value().text(), pair().key.text());
}

TEST_F(KeyFiles, AreNeverWrittenOver) {
    for (const auto* there : {"one.key", "one.pem"}) {
        put(at(there), "mine", 0600);
        const auto written = write_key_pair(paths(), pair());
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().code, std::errc::file_exists);
        EXPECT_THAT(written.error().what, HasSubstr(at(there).string() + " exists"));
        EXPECT_EQ(read_certificate_file(at(there)).value(), "mine");
        EXPECT_EQ(files(), 1U);
        fs::remove(at(there));
    }
}

TEST_F(KeyFiles, ALinkThatLeadsNowhereCountsAsAFile) {
    fs::create_symlink(at("elsewhere"), at("one.key"));
    EXPECT_FALSE(write_key_pair(paths(), pair()));
    EXPECT_EQ(files(), 1U);
}

// The last step finds a file that was created meanwhile, and leaves nothing behind.
TEST_F(KeyFiles, BothAreWrittenOrNone) {
    const auto written = write_key_pair({at("same"), at("same")}, pair());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, std::errc::file_exists);
    EXPECT_EQ(files(), 0U);
    EXPECT_FALSE(write_key_pair({at("none/one.pem"), at("one.key")}, pair()));
    EXPECT_EQ(files(), 0U);
}

TEST_F(KeyFiles, AKeyThatOthersCanReadIsRefused) {
    for (const mode_t mode : {mode_t{0604}, mode_t{0644}, mode_t{0620}, mode_t{0660}}) {
        put(at("one.key"), "the key", mode);
        const auto read = read_key_file(at("one.key"));
        ASSERT_FALSE(read) << mode;
        EXPECT_EQ(read.error().code, std::errc::operation_not_permitted);
        EXPECT_THAT(read.error().what, EndsWith("run: chmod 600 " + at("one.key").string()));
    }
    for (const mode_t mode : {mode_t{0600}, mode_t{0400}}) {
        put(at("one.key"), "the key", mode);
        EXPECT_TRUE(read_key_file(at("one.key"))) << mode;
    }
}

TEST_F(KeyFiles, AGroupMayReadAKeyOfRootAndOfNobodyElse) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, who can give files away";
    put(at("one.key"), "the key", 0640);
    EXPECT_TRUE(read_key_file(at("one.key")));
    ASSERT_EQ(::chown(at("one.key").c_str(), 65534, 65534), 0);
    EXPECT_FALSE(read_key_file(at("one.key")));
}

TEST_F(KeyFiles, WhatCannotBeReadIsNamed) {
    const auto none = read_certificate_file(at("none.pem"));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, std::errc::no_such_file_or_directory);
    EXPECT_EQ(none.error().what,
              "cannot open " + at("none.pem").string() + ": No such file or directory");
    EXPECT_THAT(read_certificate_file(directory_).error().what, EndsWith("is not a regular file"));
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    EXPECT_THAT(read_key_file(at("pipe")).error().what, EndsWith("is not a regular file"));
    put(at("large.pem"), std::string(certificate_file_bytes_max + 1, 'x'), 0600);
    EXPECT_EQ(read_certificate_file(at("large.pem")).error().code, std::errc::bad_message);
}

}  // namespace
}  // namespace mortise::transport
