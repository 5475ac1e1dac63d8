// Wrong arguments of the C interface: each is refused with a message, and none ends the program.
#include <array>
#include <cstring>
#include <string>

#include "tests/capi/one_c_node.hpp"

namespace mortise::capi {
namespace {

class CMisuse : public OneCNode {
protected:
    // `call` gets where its error goes.
    template <class Call>
    static void refuses(const char* why, const Call& call) {
        mortise_error* error = nullptr;
        EXPECT_EQ(call(&error), MORTISE_INVALID_ARGUMENT) << why;
        EXPECT_EQ(mortise_error_code(error), MORTISE_INVALID_ARGUMENT) << why;
        EXPECT_NE(message_of(error).find(why), std::string::npos) << why;
        EXPECT_EQ(call(nullptr), MORTISE_INVALID_ARGUMENT) << why;
    }
    void refuses_options(const char* why, const mortise_acquire_options& options) {
        mortise_hold* hold = nullptr;
        refuses(why, [&](mortise_error** error) {
            return mortise_node_try_acquire(node_, "x", 1, &options, &hold, error);
        });
        EXPECT_EQ(hold, nullptr);
    }
};

TEST_F(CMisuse, OfConfigs) {
    mortise_config* config = nullptr;
    refuses("config is NULL", [](auto e) { return mortise_config_in_memory(nullptr, e); });
    refuses("config is NULL", [](auto e) { return mortise_config_from_environment(nullptr, e); });
    refuses("path is NULL",
            [&](auto e) { return mortise_config_from_file(nullptr, 1, &config, e); });
    refuses("path is empty", [&](auto e) { return mortise_config_from_file("", 0, &config, e); });
    refuses("toml is NULL",
            [&](auto e) { return mortise_config_from_string(nullptr, 1, &config, e); });
    refuses("data_dir is NULL",
            [&](auto e) { return mortise_config_single_node(nullptr, 3, &config, e); });
    refuses("data_dir is empty",
            [&](auto e) { return mortise_config_single_node("", 0, &config, e); });
    refuses("path is empty or has a zero byte",
            [&](auto e) { return mortise_config_from_file("a\0b", 3, &config, e); });
    refuses("data_dir is empty or has a zero byte",
            [&](auto e) { return mortise_config_single_node("a\0b", 3, &config, e); });
    refuses("config is NULL", [](auto e) {
        return mortise_config_set_log(nullptr, MORTISE_LOG_OFF, nullptr, nullptr, nullptr, e);
    });
    EXPECT_EQ(config, nullptr);
}

TEST_F(CMisuse, OfNodes) {
    mortise_node* node = nullptr;
    mortise_status status = {};
    status.size = sizeof status;
    refuses("config is NULL", [&](auto e) { return mortise_node_open(nullptr, &node, e); });
    refuses("node is NULL", [](auto e) { return mortise_node_wait_ready(nullptr, 0, e); });
    refuses("negative", [&](auto e) { return mortise_node_wait_ready(node_, -1, e); });
    refuses("node is NULL", [&](auto e) { return mortise_node_status(nullptr, &status, e); });
    refuses("status is NULL", [&](auto e) { return mortise_node_status(node_, nullptr, e); });
    refuses("canceller is NULL", [](auto e) { return mortise_canceller_new(nullptr, e); });
    refuses("node is NULL",
            [](auto e) { return mortise_node_break_lock(nullptr, "x", 1, 1, "", 0, e); });
    refuses("name is NULL",
            [&](auto e) { return mortise_node_break_lock(node_, nullptr, 1, 1, "", 0, e); });
    refuses("reason is NULL",
            [&](auto e) { return mortise_node_break_lock(node_, "x", 1, 1, nullptr, 1, e); });
    mortise_config* config = nullptr;
    ASSERT_EQ(mortise_config_in_memory(&config, nullptr), MORTISE_OK);
    refuses("node is NULL", [&](auto e) { return mortise_node_open(config, nullptr, e); });
    mortise_config_free(config);
}

TEST_F(CMisuse, OfAcquires) {
    mortise_hold* hold = nullptr;
    refuses("node is NULL",
            [&](auto e) { return mortise_node_acquire(nullptr, "x", 1, nullptr, &hold, e); });
    refuses("hold is NULL",
            [&](auto e) { return mortise_node_acquire(node_, "x", 1, nullptr, nullptr, e); });
    refuses("name is NULL",
            [&](auto e) { return mortise_node_acquire(node_, nullptr, 1, nullptr, &hold, e); });
    refuses("node is NULL",
            [&](auto e) { return mortise_node_try_acquire(nullptr, "x", 1, nullptr, &hold, e); });
    refuses("negative",
            [&](auto e) { return mortise_node_acquire_for(node_, "x", 1, -1, nullptr, &hold, e); });
    refuses("", [&](auto e) { return mortise_node_acquire(node_, "", 0, nullptr, &hold, e); });
    const std::string too_long(513, 'x');
    refuses("", [&](auto e) {
        return mortise_node_acquire(node_, too_long.data(), 513, nullptr, &hold, e);
    });
    EXPECT_EQ(hold, nullptr);
}

TEST_F(CMisuse, OfOptions) {
    const mortise_acquire_options good = MORTISE_ACQUIRE_OPTIONS_INIT;
    const auto with = [&](auto member, auto value) {
        auto options = good;
        options.*member = value;
        return options;
    };
    using Options = mortise_acquire_options;
    refuses_options("size", with(&Options::size, 0U));
    refuses_options("size", with(&Options::size, 87U));  // below the first version
    refuses_options("size", with(&Options::size, 1'000'000U));
    refuses_options("label", with(&Options::label_length, 1U));
    refuses_options("max_hold_ns", with(&Options::max_hold_ns, -1));
    refuses_options("min_hold_ns", with(&Options::min_hold_ns, -1));
    refuses_options("progress_timeout_ns", with(&Options::progress_timeout_ns, -1));
    refuses_options("lock_delay_ns", with(&Options::lock_delay_ns, -1));
    refuses_options("mode", with(&Options::mode, 6));
    refuses_options("", with(&Options::priority, 8));
    refuses_options("queue_policy", with(&Options::queue_policy, 5));
    refuses_options("on_uncertain", with(&Options::on_uncertain, 2));
    refuses_options("caching", with(&Options::caching, -1));
    refuses_options("reserved", with(&Options::reserved, 1));
    for (const auto member : {&Options::max_hold_ns, &Options::min_hold_ns,
                              &Options::progress_timeout_ns, &Options::lock_delay_ns}) {
        refuses_options("24 days", with(member, INT64_MAX));
        refuses_options("24 days", with(member, 25 * 24 * 3600 * (1000 * ms)));
    }
}

// A program that was compiled against a later header runs, as long as it asks for nothing new.
TEST_F(CMisuse, OfOptionsOfALaterVersion) {
    struct Later {
        mortise_acquire_options known;
        std::array<unsigned char, 16> unknown;
    } later = {MORTISE_ACQUIRE_OPTIONS_INIT, {}};
    later.known.size = sizeof later;
    mortise_hold* hold = nullptr;
    EXPECT_EQ(mortise_node_try_acquire(node_, "x", 1, &later.known, &hold, nullptr), MORTISE_OK);
    EXPECT_NE(hold, nullptr);
    mortise_hold_free(hold);
    later.unknown[15] = 1;
    refuses_options("this version does not know", later.known);
}

TEST_F(CMisuse, OfHolds) {
    std::size_t length = 1;
    char* bytes = nullptr;
    mortise_previous previous = {};
    previous.size = sizeof previous;
    refuses("hold is NULL", [](auto e) { return mortise_hold_release(nullptr, e); });
    refuses("hold is NULL", [](auto e) { return mortise_hold_check(nullptr, e); });
    refuses("hold is NULL", [](auto e) { return mortise_hold_confirm(nullptr, 0, e); });
    refuses("hold is NULL",
            [&](auto e) { return mortise_hold_value(nullptr, &bytes, &length, e); });
    refuses("hold is NULL", [](auto e) { return mortise_hold_set_value(nullptr, "", 0, e); });
    refuses("hold is NULL", [&](auto e) { return mortise_hold_previous(nullptr, &previous, e); });
    EXPECT_EQ(mortise_hold_token(nullptr), 0);
    EXPECT_EQ(mortise_hold_valid(nullptr), 0);
    EXPECT_EQ(mortise_hold_remaining_ns(nullptr), 0);
    EXPECT_EQ(mortise_hold_state(nullptr), MORTISE_HOLD_RELEASED);
    EXPECT_EQ(mortise_hold_why_lost(nullptr), MORTISE_LOSS_NONE);
    EXPECT_EQ(mortise_hold_mode(nullptr), MORTISE_MODE_EXCLUSIVE);
    EXPECT_STREQ(mortise_hold_name(nullptr, &length), "");
    EXPECT_EQ(length, 0U);

    auto* const hold = acquire("x");
    refuses("negative", [&](auto e) { return mortise_hold_confirm(hold, -1, e); });
    refuses("bytes or length",
            [&](auto e) { return mortise_hold_value(hold, nullptr, &length, e); });
    refuses("bytes or length",
            [&](auto e) { return mortise_hold_value(hold, &bytes, nullptr, e); });
    refuses("bytes is NULL", [&](auto e) { return mortise_hold_set_value(hold, nullptr, 1, e); });
    refuses("previous is NULL", [&](auto e) { return mortise_hold_previous(hold, nullptr, e); });
    previous.size = sizeof previous - 8;
    refuses("size", [&](auto e) { return mortise_hold_previous(hold, &previous, e); });
    mortise_hold_free(hold);
}

TEST_F(CMisuse, OfWhatIsFreed) {
    mortise_error_free(nullptr);
    mortise_bytes_free(nullptr);
    mortise_config_free(nullptr);
    mortise_node_close(nullptr);
    mortise_node_free(nullptr);
    mortise_canceller_cancel(nullptr);
    mortise_canceller_free(nullptr);
    mortise_hold_unlock(nullptr);
    mortise_hold_checkpoint(nullptr);
    mortise_hold_free(nullptr);
    EXPECT_EQ(mortise_node_id(nullptr), 0U);
}

TEST_F(CMisuse, OfErrors) {
    std::size_t length = 9;
    EXPECT_EQ(mortise_error_code(nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_error_errno(nullptr), 0);
    EXPECT_STREQ(mortise_error_code_name(nullptr), "ok");
    EXPECT_STREQ(mortise_error_message(nullptr, &length), "ok");
    EXPECT_EQ(length, 2U);
    EXPECT_STREQ(mortise_error_reason(nullptr, &length), "");
    EXPECT_STREQ(mortise_error_lock_name(nullptr, nullptr), "");
    EXPECT_EQ(length, 0U);
}

// The library writes as many bytes as the caller has, and zeros where it knows nothing.
TEST_F(CMisuse, OfAStatusOfALaterVersion) {
    struct Later {
        mortise_status known;
        std::array<unsigned char, 16> unknown;
        unsigned char guard;
    } later = {};
    std::memset(&later, 0xff, sizeof later);
    later.known.size = offsetof(Later, guard);
    ASSERT_EQ(mortise_node_status(node_, &later.known, nullptr), MORTISE_OK);
    EXPECT_EQ(later.known.node_id, 1U);
    EXPECT_EQ(later.known.size, sizeof(mortise_status));  // what the library knows
    EXPECT_EQ(later.unknown[15], 0);
    EXPECT_EQ(later.guard, 0xff);
    later.known.size = 8;
    refuses("size", [&](auto e) { return mortise_node_status(node_, &later.known, e); });
}

}  // namespace
}  // namespace mortise::capi
