#include <array>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include <mortise/errc.hpp>

namespace mortise {
namespace {

constexpr std::array all{Errc::timed_out,          Errc::cancelled,        Errc::session_expired,
                         Errc::lock_lost,          Errc::not_held,         Errc::outcome_unknown,
                         Errc::no_quorum,          Errc::not_ready,        Errc::deadlock,
                         Errc::resource_exhausted, Errc::invalid_argument, Errc::kind_mismatch,
                         Errc::stale_request,      Errc::node_stopped,     Errc::forked,
                         Errc::permission_denied,  Errc::incompatible};

TEST(Errc, EachHasAMessageAndANameOfItsOwn) {
    std::set<std::string> messages;
    std::set<std::string_view> names;
    for (const Errc code : all) {
        const std::error_code ec = code;
        EXPECT_NE(ec.value(), 0);
        EXPECT_STREQ(ec.category().name(), "mortise");
        EXPECT_THAT(ec.message(), testing::Not(testing::HasSubstr("unknown error")));
        messages.insert(ec.message());
        names.insert(to_string(code));
    }
    EXPECT_EQ(messages.size(), all.size());
    EXPECT_EQ(names.size(), all.size());
    EXPECT_FALSE(names.contains("unknown"));
}

TEST(Errc, CallsItselfWhatItIsCalled) {
    EXPECT_EQ(to_string(Errc::timed_out), "timed_out");
    EXPECT_EQ(to_string(Errc::outcome_unknown), "outcome_unknown");
    EXPECT_EQ(to_string(Errc::incompatible), "incompatible");
}

TEST(Errc, SaysSoWhenTheNumberIsNone) {
    for (const int code : {-1, 0, static_cast<int>(all.size()) + 1}) {
        const std::error_code ec{code, error_category()};
        EXPECT_EQ(ec.message(), "unknown error " + std::to_string(code));
        EXPECT_EQ(to_string(static_cast<Errc>(code)), "unknown");
        EXPECT_EQ(ec.default_error_condition(), std::error_condition(code, error_category()));
        EXPECT_FALSE(is_retryable(ec));
    }
}

TEST(Errc, EqualsTheStandardsWordForIt) {
    const auto code = [](Errc errc) { return make_error_code(errc); };
    EXPECT_EQ(code(Errc::timed_out), std::errc::timed_out);
    EXPECT_EQ(code(Errc::cancelled), std::errc::operation_canceled);
    EXPECT_EQ(code(Errc::not_held), std::errc::operation_not_permitted);
    EXPECT_EQ(code(Errc::no_quorum), std::errc::resource_unavailable_try_again);
    EXPECT_EQ(code(Errc::not_ready), std::errc::resource_unavailable_try_again);
    EXPECT_EQ(code(Errc::deadlock), std::errc::resource_deadlock_would_occur);
    EXPECT_EQ(code(Errc::resource_exhausted), std::errc::no_lock_available);
    EXPECT_EQ(code(Errc::invalid_argument), std::errc::invalid_argument);
    EXPECT_EQ(code(Errc::permission_denied), std::errc::permission_denied);
    EXPECT_EQ(code(Errc::incompatible), std::errc::protocol_not_supported);
    EXPECT_NE(code(Errc::cancelled), std::errc::timed_out);
    EXPECT_NE(code(Errc::lock_lost), std::errc::timed_out);
    EXPECT_NE(code(Errc::not_ready), code(Errc::no_quorum));
}

TEST(Errc, IsRetryableWhereTheSameCallMaySucceedLater) {
    const std::set<Errc> retryable{Errc::timed_out, Errc::session_expired, Errc::no_quorum,
                                   Errc::not_ready, Errc::resource_exhausted};
    for (const Errc code : all) {
        EXPECT_EQ(is_retryable(code), retryable.contains(code)) << to_string(code);
    }
    EXPECT_FALSE(is_retryable({}));
    EXPECT_FALSE(is_retryable(std::make_error_code(std::errc::timed_out)));
}

}  // namespace
}  // namespace mortise
