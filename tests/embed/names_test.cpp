// Valid names (S38): every call that takes a name gives the same verdict.
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <asio/use_future.hpp>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>

namespace mortise {
namespace {

constexpr std::size_t longest = 512;

template <class Call>
std::error_code error_of(Call call) {
    try {
        call();
    } catch (const std::system_error& error) {
        return error.code();
    }
    return {};
}

class Names : public ::testing::Test {
protected:
    Names() {
        ready_ = node_.wait_ready(std::chrono::steady_clock::now() + patience);
        remote_.emplace(std::vector{node_.status().address}, patience);
    }
    void SetUp() override { ASSERT_TRUE(ready_); }

    // Every call that takes the name of one lock.
    std::vector<std::error_code> verdicts(const std::string& name) {
        Mutex mutex{node_, name};
        return {
            error_of([&] { std::ignore = node_.acquire(name); }),
            error_of([&] { std::ignore = node_.try_acquire(name); }),
            error_of([&] { std::ignore = node_.acquire_for(name, patience); }),
            error_of([&] { std::ignore = async_acquire(node_, name, asio::use_future).get(); }),
            error_of([&] {
                mutex.lock();
                mutex.unlock();
            }),
            error_of([&] { std::ignore = node_.inspect(name); }),
            error_of([&] { std::ignore = node_.inspect(name, ReadLevel::local); }),
            error_of([&] { std::ignore = remote_->inspect(name); }),
        };
    }
    // Every call that takes a prefix of names, which may be empty.
    std::vector<std::error_code> verdicts_on_prefix(const std::string& prefix) {
        return {
            error_of([&] { std::ignore = node_.list(prefix); }),
            error_of([&] { std::ignore = node_.list("", prefix); }),
            error_of([&] { std::ignore = remote_->list(prefix); }),
            error_of([&] { std::ignore = remote_->list("", prefix); }),
        };
    }

    static Config with_a_door() {
        auto config = Config::in_memory();
        config.listen = "127.0.0.1:0";
        return config;
    }

    Node node_{with_a_door()};
    std::optional<Remote> remote_;

private:
    bool ready_ = false;
};

TEST_F(Names, WithAnyBytesAreAcceptedByEveryCall) {
    using namespace std::string_literals;
    for (const auto& name : {"x"s, std::string(longest, 'x'), "\0"s, "a\0b"s, "\xff\xfe"s, "\n"s,
                             "../../etc"s, "\xed\xa0\x80"s}) {
        for (const auto verdict : verdicts(name))
            EXPECT_FALSE(verdict) << verdict.message();
        for (const auto verdict : verdicts_on_prefix(name))
            EXPECT_FALSE(verdict) << verdict.message();
        auto hold = node_.acquire(name);
        EXPECT_EQ(hold.name(), name);
        EXPECT_EQ(node_.inspect(name).holders.size(), 1U);
        EXPECT_EQ(remote_->inspect(name).name, name);
        EXPECT_EQ(remote_->list(name).size(), 1U);
        EXPECT_FALSE(hold.release());
    }
}

TEST_F(Names, ThatAreEmptyOrTooLongAreRefusedByEveryCall) {
    for (const auto& name : {std::string{}, std::string(longest + 1, 'x')}) {
        for (const auto verdict : verdicts(name))
            EXPECT_EQ(verdict, Errc::invalid_argument);
    }
    for (const auto verdict : verdicts_on_prefix(std::string(longest + 1, 'x')))
        EXPECT_EQ(verdict, Errc::invalid_argument);
}

TEST_F(Names, AreListedWithAsManyHoldersAsAPersonReads) {
    std::vector<Hold> holds;
    for (int i = 0; i < 10; ++i)
        holds.push_back(node_.acquire("b/crowd", {.mode = LockMode::shared}));
    holds.push_back(node_.acquire("a"));
    holds.push_back(node_.acquire("c"));
    std::error_code ec;
    const auto info = node_.inspect("b/crowd", ReadLevel::local, 4, ec);
    EXPECT_EQ(info.holders.size(), 4U);
    EXPECT_EQ(info.holders_total, 10U);
    EXPECT_TRUE(info.truncated);
    auto locks = node_.list("", "", 100, ReadLevel::local, 4, ec);
    ASSERT_EQ(locks.size(), 2U);  // the second one fills the page
    EXPECT_EQ(locks[1].name, "b/crowd");
    EXPECT_EQ(locks[1].holders.size(), 4U);
    locks = node_.list("", "b/crowd", 100, ReadLevel::local, 4, ec);
    ASSERT_EQ(locks.size(), 1U);
    EXPECT_EQ(locks[0].name, "c");
    EXPECT_FALSE(locks[0].truncated);
    std::ignore = node_.inspect("", ReadLevel::local, 4, ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
}

}  // namespace
}  // namespace mortise
