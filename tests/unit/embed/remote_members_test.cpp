#include "embed/api/remote_members.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using Answer = core::Result<transport::ListAnswer>;

core::Error error(std::errc code, std::string what) {
    return {std::make_error_code(code), std::move(what)};
}

TEST(RemoteFailures, AReasonIsThatOfItsMember) {
    RemoteFailures failures;
    failures.begin("one:1");
    EXPECT_FALSE(failures.reply_in(Answer{core::Denied{"no right"}}, false));
    EXPECT_EQ(failures.answer()->error, Errc::permission_denied);
    EXPECT_EQ(failures.answer()->reason, "no right");
    failures.begin("two:1");
    EXPECT_FALSE(failures.reply_in(Answer{core::CallError::no_quorum}, false));
    EXPECT_EQ(failures.answer()->error, Errc::no_quorum);
    EXPECT_EQ(failures.answer()->reason, "");
}

TEST(RemoteFailures, AMemberThatIsSilentMayWaitForOthers) {
    RemoteFailures failures;
    failures.begin("one:1");
    const Answer silence = error(std::errc::timed_out, "no answer in time");
    EXPECT_FALSE(failures.reply_in(silence, true));
    EXPECT_FALSE(failures.answer()) << "what is local waits for nobody";
    EXPECT_EQ(failures.contact().what, "one:1: no answer in time");
    EXPECT_FALSE(failures.reply_in(silence, false));
    EXPECT_EQ(failures.answer()->error, Errc::no_quorum);
}

TEST(RemoteFailures, AllMembersThatWereNotReachedAreNamedOnce) {
    RemoteFailures failures;
    failures.begin("one:1");
    failures.add_contact(error(std::errc::connection_refused, "cannot connect to one:1"));
    failures.begin("two:1");
    failures.add_contact(error(std::errc::connection_reset, "the connection broke"));
    EXPECT_EQ(failures.contact().what, "cannot connect to one:1; two:1: the connection broke");
    EXPECT_EQ(failures.contact().code, std::errc::connection_reset);
}

TEST(RemoteFailures, AReplyIsTaken) {
    RemoteFailures failures;
    const auto reply = failures.reply_in(Answer{transport::ListReply{{}, true}}, false);
    ASSERT_TRUE(reply);
    EXPECT_TRUE(reply->more);
    EXPECT_FALSE(failures.answer());
}

}  // namespace
}  // namespace mortise::detail
