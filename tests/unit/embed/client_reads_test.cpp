// The reads of a client node, without a member.
#include "embed/runtime/client_reads.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embed/values/clocks.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

class ClientReadsTest : public testing::Test {
protected:
    using Done = transport::MemberClient::Done<transport::ListAnswer>;

    void SetUp() override { use_member(); }
    void use_member() {
        reads.use([this](const transport::ListRequest& request, Done done) {
            asked.emplace_back(request, std::move(done));
        });
    }
    void add(std::uint64_t tag) {
        core::InspectCall call;
        call.tag = core::CallTag{tag};
        call.name = "a";
        call.limit = 1;
        reads.add(std::move(call), steady_now() + 10s);
    }
    void answer(std::size_t number, core::Result<transport::ListAnswer> with) {
        asked.at(number).second(std::move(with));
    }

    std::vector<std::pair<transport::ListRequest, Done>> asked;
    std::vector<core::CallAnswer> answers;
    std::vector<std::pair<std::size_t, bool>> changes;  // what is open, and whether it was heard
    ClientReads reads{{[this](core::CallAnswer given) { answers.push_back(std::move(given)); },
                       [this](bool heard) { changes.emplace_back(reads.size(), heard); }}};
};

TEST_F(ClientReadsTest, TheAnswerEndsTheRead) {
    add(1);
    ASSERT_THAT(asked, SizeIs(1));
    answer(0, transport::ListAnswer{transport::ListReply{}});
    ASSERT_THAT(answers, SizeIs(1));
    EXPECT_TRUE(std::holds_alternative<core::Viewed>(answers.front().result));
    EXPECT_THAT(changes, ElementsAre(std::pair{std::size_t{0}, true}));
}

// It is reported, so that the owner sets its timer.
TEST_F(ClientReadsTest, AReadThatIsPutOffIsAskedAgainSoon) {
    add(1);
    answer(0, transport::ListAnswer{core::CallError::resource_exhausted});
    EXPECT_THAT(asked, SizeIs(1));
    EXPECT_THAT(changes, ElementsAre(std::pair{std::size_t{1}, true}));
    EXPECT_LE(reads.deadline(), steady_now() + 50ms);
    reads.on_timer(steady_now() + 50ms);
    EXPECT_THAT(asked, SizeIs(2));
    EXPECT_THAT(answers, SizeIs(0));
}

TEST_F(ClientReadsTest, TheNextMemberIsAskedAgain) {
    add(1);
    reads.use({});
    use_member();
    ASSERT_THAT(asked, SizeIs(2));
    answer(0, transport::ListAnswer{transport::ListReply{}});  // too late
    EXPECT_THAT(answers, SizeIs(0));
    EXPECT_THAT(changes, SizeIs(0));
    answer(1, transport::ListAnswer{transport::ListReply{}});
    EXPECT_THAT(answers, SizeIs(1));
}

TEST_F(ClientReadsTest, AReadWithoutAnAnswerEndsInTime) {
    add(1);
    reads.on_timer(steady_now() + 20s);
    ASSERT_THAT(answers, SizeIs(1));
    EXPECT_EQ(std::get<core::CallError>(answers.front().result), core::CallError::no_quorum);
    EXPECT_THAT(changes, ElementsAre(std::pair{std::size_t{0}, false}));
}

}  // namespace
}  // namespace mortise::detail
