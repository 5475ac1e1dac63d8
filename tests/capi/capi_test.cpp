// The C interface: what each function does when it is used as the header says.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

#include "tests/capi/one_c_node.hpp"
#include "tests/support/child.hpp"
#include <mortise/testkit/temp_directory.hpp>

namespace mortise::capi {
namespace {

using CNode = OneCNode;

TEST(CVersion, IsThatOfTheHeader) {
    EXPECT_STREQ(mortise_version(), MORTISE_VERSION_STRING);
    EXPECT_EQ(mortise_version_number(), MORTISE_VERSION_NUMBER);
    const auto number = std::to_string(MORTISE_VERSION_MAJOR) + "." +
                        std::to_string(mortise_version_number() / 1'000 % 1'000) + "." +
                        std::to_string(mortise_version_number() % 1'000);
    EXPECT_EQ(number, MORTISE_VERSION_STRING);
}

TEST(CCodes, HaveNamesAndSayWhetherToRetry) {
    EXPECT_STREQ(mortise_code_name(MORTISE_OK), "ok");
    EXPECT_STREQ(mortise_code_name(MORTISE_LOCK_LOST), "lock_lost");
    EXPECT_STREQ(mortise_code_name(MORTISE_DIRECTORY_LOCKED), "directory_locked");
    EXPECT_STREQ(mortise_code_name(-1), "unknown");
    EXPECT_STREQ(mortise_code_name(MORTISE_INCOMPATIBLE + 1), "unknown");
    for (int code = MORTISE_OK; code <= MORTISE_INCOMPATIBLE; ++code)
        EXPECT_STRNE(mortise_code_name(code), "unknown") << code;
    for (int code = MORTISE_DIRECTORY_LOCKED; code <= MORTISE_DIRECTORY_NOT_A_DIRECTORY; ++code)
        EXPECT_STRNE(mortise_code_name(code), "unknown") << code;
    EXPECT_EQ(mortise_code_is_retryable(MORTISE_NO_QUORUM), 1);
    EXPECT_EQ(mortise_code_is_retryable(MORTISE_OUT_OF_MEMORY), 1);
    EXPECT_EQ(mortise_code_is_retryable(MORTISE_LOCK_LOST), 0);
    EXPECT_EQ(mortise_code_is_retryable(4711), 0);
}

TEST(CConfig, NamesThePlaceOfAnError) {
    constexpr std::string_view toml = "cluster = \"x\"\nsilly = 1\n";
    mortise_config* config = nullptr;
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_config_from_string(toml.data(), toml.size(), &config, &error),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(config, nullptr);
    EXPECT_STREQ(mortise_error_code_name(error), "invalid_argument");
    EXPECT_NE(message_of(error).find("silly"), std::string::npos);
}

TEST(CConfig, SaysThatAFileDoesNotExist) {
    constexpr std::string_view path = "/nowhere/mortise.toml";
    mortise_config* config = nullptr;
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_config_from_file(path.data(), path.size(), &config, &error),
              MORTISE_SYSTEM_ERROR);
    EXPECT_EQ(mortise_error_errno(error), ENOENT);
    EXPECT_NE(message_of(error).find(path), std::string::npos);
}

TEST(CConfig, IsReadFromAFileAndFromTheEnvironment) {
    const testkit::TempDirectory directory{"mortise-capi"};
    const std::string path = directory.path() / "mortise.toml";
    std::ofstream{path} << "cluster = \"c\"\nnode_id = 7\nlisten = \"127.0.0.1:0\"\ndata_dir = \""
                        << (directory.path() / "data").string()
                        << "\"\npeer = [{ id = 7, address = \"127.0.0.1:1\" }]\n";
    mortise_config* config = nullptr;
    mortise_error* error = nullptr;
    ASSERT_EQ(mortise_config_from_file(path.data(), path.size(), &config, &error), MORTISE_OK)
        << message_of(error);
    mortise_node* node = nullptr;
    ASSERT_EQ(mortise_node_open(config, &node, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_node_id(node), 7U);
    mortise_node_free(node);
    mortise_config_free(config);

    const std::string data = directory.path() / "other";
    ::setenv("MORTISE_DATA_DIR", data.c_str(), 1);
    EXPECT_EQ(mortise_config_from_environment(&config, nullptr), MORTISE_OK);
    ::unsetenv("MORTISE_DATA_DIR");
    mortise_config_free(config);
}

TEST(CConfig, OpensADirectoryOnceAtATime) {
    const testkit::TempDirectory directory{"mortise-capi"};
    const std::string data = directory.path() / "data";
    mortise_config* config = nullptr;
    ASSERT_EQ(mortise_config_single_node(data.data(), data.size(), &config, nullptr), MORTISE_OK);
    mortise_node* node = nullptr;
    ASSERT_EQ(mortise_node_open(config, &node, nullptr), MORTISE_OK);
    mortise_node* second = nullptr;
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_node_open(config, &second, &error), MORTISE_DIRECTORY_LOCKED);
    EXPECT_EQ(second, nullptr);
    EXPECT_NE(message_of(error).find(data), std::string::npos);
    mortise_node_free(node);
    mortise_config_free(config);
}

TEST_F(CNode, HoldsALockUntilItIsReleased) {
    auto* const hold = acquire("orders/42");
    ASSERT_NE(hold, nullptr);
    std::size_t length = 0;
    EXPECT_STREQ(mortise_hold_name(hold, &length), "orders/42");
    EXPECT_EQ(length, 9U);
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_EXCLUSIVE);
    EXPECT_GT(mortise_hold_token(hold), 0);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    EXPECT_GT(mortise_hold_remaining_ns(hold), 0);
    EXPECT_EQ(mortise_hold_state(hold), MORTISE_HOLD_HELD);
    EXPECT_EQ(mortise_hold_why_lost(hold), MORTISE_LOSS_NONE);
    EXPECT_EQ(mortise_hold_check(hold, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_confirm(hold, INT64_MAX, nullptr), MORTISE_OK);

    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_valid(hold), 0);
    EXPECT_EQ(mortise_hold_token(hold), 0);
    EXPECT_EQ(mortise_hold_state(hold), MORTISE_HOLD_RELEASED);
    EXPECT_EQ(mortise_hold_check(hold, nullptr), MORTISE_NOT_HELD);
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_hold_release(hold, &error), MORTISE_NOT_HELD);
    length = 0;
    EXPECT_STREQ(mortise_error_lock_name(error, &length), "orders/42");
    EXPECT_EQ(length, 9U);
    mortise_error_free(error);
    EXPECT_STREQ(mortise_hold_name(hold, nullptr), "orders/42");
    mortise_hold_free(hold);
}

TEST_F(CNode, ReleasesAHoldOnceForTwoThreads) {
    for (int i = 0; i < 20; ++i) {
        auto* const hold = acquire("released twice");
        int other = MORTISE_OK;
        std::jthread thread{[&] { other = mortise_hold_release(hold, nullptr); }};
        const int own = mortise_hold_release(hold, nullptr);
        thread.join();
        EXPECT_EQ(own + other, MORTISE_NOT_HELD);
        mortise_hold_free(hold);
    }
}

TEST_F(CNode, FindsALockTakenAndSaysSoWithoutAnError) {
    auto* const hold = acquire("taken");
    mortise_hold* other = hold;
    EXPECT_EQ(try_acquire("taken", &other), MORTISE_OK);
    EXPECT_EQ(other, nullptr);
    other = hold;
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_node_acquire_for(node_, "taken", 5, 200 * ms, nullptr, &other, &error),
              MORTISE_OK);
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(error, nullptr);

    mortise_hold_unlock(hold);
    EXPECT_EQ(mortise_node_acquire_for(node_, "taken", 5, patience, nullptr, &other, nullptr),
              MORTISE_OK);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(mortise_hold_valid(other), 1);
    mortise_hold_free(other);
    mortise_hold_free(hold);
}

TEST_F(CNode, HoldsOneNameSharedTwice) {
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.mode = MORTISE_MODE_SHARED;
    auto* const first = acquire("shared", &options);
    auto* const second = acquire("shared", &options);
    EXPECT_EQ(mortise_hold_mode(first), MORTISE_MODE_SHARED);
    EXPECT_EQ(mortise_hold_valid(first) + mortise_hold_valid(second), 2);
    mortise_hold* writer = nullptr;
    EXPECT_EQ(try_acquire("shared", &writer), MORTISE_OK);
    EXPECT_EQ(writer, nullptr);
    mortise_hold_free(first);
    mortise_hold_free(second);
}

TEST_F(CNode, GivesEachModeItsName) {
    for (mortise_mode mode = 0; mode <= MORTISE_MODE_SHARED_INTENT_EXCLUSIVE; ++mode) {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.mode = mode;
        auto* const hold = acquire("mode", &options);
        EXPECT_EQ(mortise_hold_mode(hold), mode);
        EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_OK);
        mortise_hold_free(hold);
    }
}

TEST_F(CNode, AcceptsNamesOfAnyBytes) {
    constexpr std::string_view name{"a\0b\xff", 4};
    auto* const hold = acquire(name);
    std::size_t length = 0;
    const char* const shown = mortise_hold_name(hold, &length);
    EXPECT_EQ(std::string_view(shown, length), name);
    mortise_hold_free(hold);
}

TEST_F(CNode, EndsAWaitThatIsCancelled) {
    auto* const hold = acquire("cancelled");
    mortise_canceller* canceller = nullptr;
    ASSERT_EQ(mortise_canceller_new(&canceller, nullptr), MORTISE_OK);
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.canceller = canceller;
    std::jthread later{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{30});
        mortise_canceller_cancel(canceller);
    }};
    mortise_hold* other = nullptr;
    EXPECT_EQ(mortise_node_acquire(node_, "cancelled", 9, &options, &other, nullptr),
              MORTISE_CANCELLED);
    EXPECT_EQ(other, nullptr);
    later.join();
    mortise_canceller_free(canceller);
    mortise_hold_free(hold);
}

TEST_F(CNode, StoresAValueWithAName) {
    auto* const hold = acquire("value");
    char* bytes = nullptr;
    std::size_t length = 1;
    ASSERT_EQ(mortise_hold_value(hold, &bytes, &length, nullptr), MORTISE_OK);
    EXPECT_EQ(length, 0U);
    mortise_bytes_free(bytes);
    EXPECT_EQ(mortise_hold_set_value(hold, "x\0y", 3, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_hold_value(hold, &bytes, &length, nullptr), MORTISE_OK);
    EXPECT_EQ(std::string_view(bytes, length), std::string_view("x\0y", 3));
    mortise_bytes_free(bytes);
    const std::string too_long(5000, 'x');
    EXPECT_EQ(mortise_hold_set_value(hold, too_long.data(), too_long.size(), nullptr),
              MORTISE_INVALID_ARGUMENT);
    mortise_hold_free(hold);
}

TEST_F(CNode, TellsWhoHeldTheNameBefore) {
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.label = "worker 1";
    options.label_length = 8;
    options.caching = MORTISE_CACHING_OFF;
    options.max_hold_ns = 50 * ms;
    auto* const lost = acquire("before", &options);
    const auto token = mortise_hold_token(lost);
    auto* const next = acquire("before");
    EXPECT_EQ(mortise_hold_state(lost), MORTISE_HOLD_LOST);
    EXPECT_EQ(mortise_hold_why_lost(lost), MORTISE_LOSS_EXPIRED);
    EXPECT_EQ(mortise_hold_token(lost), token);
    EXPECT_EQ(mortise_hold_release(lost, nullptr), MORTISE_LOCK_LOST);
    EXPECT_GT(mortise_hold_token(next), token);
    mortise_previous previous = {};
    previous.size = sizeof previous;
    ASSERT_EQ(mortise_hold_previous(next, &previous, nullptr), MORTISE_OK);
    EXPECT_EQ(previous.how, MORTISE_PREDECESSOR_EXPIRED);
    EXPECT_EQ(previous.token, token);
    EXPECT_EQ(std::string_view(previous.label, previous.label_length), "worker 1");
    mortise_hold_free(lost);
    mortise_hold_free(next);
}

TEST_F(CNode, LosesAHoldThatReportsNoProgress) {
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.progress_timeout_ns = 300 * ms;
    auto* const hold = acquire("progress", &options);
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        mortise_hold_checkpoint(hold);
    }
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
    mortise_hold_free(hold);
}

TEST_F(CNode, BreaksALockOfItsToken) {
    auto* const hold = acquire("broken");
    const auto token = mortise_hold_token(hold);
    EXPECT_EQ(mortise_node_break_lock(node_, "broken", 6, token + 1, "", 0, nullptr),
              MORTISE_NOT_HELD);
    EXPECT_EQ(mortise_node_break_lock(node_, "broken", 6, token, "stuck", 5, nullptr), MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
    EXPECT_EQ(mortise_hold_why_lost(hold), MORTISE_LOSS_BROKEN);
    mortise_hold_free(hold);
}

TEST_F(CNode, TellsItsStatus) {
    mortise_status status = {};
    status.size = sizeof status;
    ASSERT_EQ(mortise_node_status(node_, &status, nullptr), MORTISE_OK);
    EXPECT_EQ(status.size, sizeof status);
    EXPECT_EQ(status.node_id, 1U);
    EXPECT_EQ(status.leader_id, 1U);
    EXPECT_GT(status.term, 0U);
    EXPECT_EQ(status.members, 1U);
    EXPECT_EQ(status.voters, 1U);
    EXPECT_EQ(status.is_ready, 1);
    EXPECT_EQ(status.is_stopped, 0);
}

TEST_F(CNode, EndsItsHoldsWhenItIsClosed) {
    auto* const hold = acquire("closed");
    mortise_node_close(node_);
    mortise_node_close(node_);
    EXPECT_EQ(mortise_hold_valid(hold), 0);
    EXPECT_EQ(mortise_hold_why_lost(hold), MORTISE_LOSS_NODE_STOPPED);
    mortise_hold* other = nullptr;
    EXPECT_EQ(try_acquire("closed", &other), MORTISE_NODE_STOPPED);
    mortise_status status = {};
    status.size = sizeof status;
    EXPECT_EQ(mortise_node_status(node_, &status, nullptr), MORTISE_OK);
    EXPECT_EQ(status.is_stopped, 1);
    mortise_node_free(node_);
    node_ = nullptr;
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_NODE_STOPPED);
    mortise_hold_free(hold);
}

TEST_F(CNode, DoesNothingInTheChildOfAFork) {
    auto* const hold = acquire("parent");
    Calls calls;
    ASSERT_EQ(mortise_hold_on_lost(hold, count_lost, &calls, nullptr, nullptr), MORTISE_OK);
    EXPECT_EQ(tests::exit_of_child([&] {
                  mortise_hold* other = nullptr;
                  bool is_right = try_acquire("child", &other) == MORTISE_FORKED;
                  is_right = is_right && mortise_hold_valid(hold) == 0;
                  is_right = is_right && mortise_hold_check(hold, nullptr) == MORTISE_FORKED;
                  mortise_hold_free(hold);
                  mortise_node_free(node_);
                  return is_right && calls.lost == 0 ? 0 : 1;
              }),
              0);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_OK);
    mortise_hold_free(hold);
}

TEST(CNodeAlone, SaysWhyItIsNotReady) {
    constexpr std::string_view toml =
        "node_id = 1\nlisten = \"127.0.0.1:0\"\ndata_dir = \"/tmp/mortise-never-used\"\n"
        "peer = [{id = 1, address = \"127.0.0.1:1\"}, {id = 2, address = \"127.0.0.1:2\"}]\n";
    const testkit::TempDirectory directory{"mortise-capi"};
    std::string text{toml};
    const std::string unused = "/tmp/mortise-never-used";
    text.replace(text.find(unused), unused.size(), (directory.path() / "d").string());
    mortise_config* config = nullptr;
    mortise_error* error = nullptr;
    ASSERT_EQ(mortise_config_from_string(text.data(), text.size(), &config, &error), MORTISE_OK)
        << message_of(error);
    mortise_node* node = nullptr;
    ASSERT_EQ(mortise_node_open(config, &node, &error), MORTISE_OK) << message_of(error);
    EXPECT_EQ(mortise_node_wait_ready(node, 10 * ms, &error), MORTISE_TIMED_OUT);
    std::size_t length = 0;
    mortise_error_reason(error, &length);
    EXPECT_GT(length, 0U);
    mortise_error_free(error);
    mortise_node_free(node);
    mortise_config_free(config);
}

}  // namespace
}  // namespace mortise::capi
