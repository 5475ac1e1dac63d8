// The order in which the effects of one step leave the driver.
#include "embed/runtime/driver.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise {
namespace {

using namespace core::test;
using core::Now;
using testing::ElementsAre;

// Records what happens, and keeps the messages and writes.
class Ports final : public LogWriter, public StateWriter, public PeerSender, public Publisher {
public:
    void submit(core::Write write) override {
        happened.emplace_back("write");
        writes.push_back(std::move(write));
    }
    void purge_to(const core::LogBase& /*base*/) override {}
    void save(core::StateDelta /*delta*/) override {}
    void save_countdowns(core::SavedCountdowns /*countdowns*/) override {}
    void read_snapshot(core::SnapshotRead /*read*/) override {}
    void close_snapshot(core::NodeId /*peer*/) override {}
    void install(core::InstallStep /*step*/) override {}
    void send(core::NodeId to, core::PeerMessage message) override {
        sent.push_back({to, std::move(message)});
    }
    void flush() override { happened.emplace_back("flush"); }
    void applied(const core::Applied& /*applied*/) override {}
    void lost(const core::HoldLost& /*lost*/) override { happened.emplace_back("lost"); }
    void suspended(core::OperationId /*hold*/) override { happened.emplace_back("suspended"); }
    void lease_changed(const core::LeaseChanged& /*lease*/) override {}
    void answered(std::vector<core::CallAnswer> /*answers*/) override {
        happened.emplace_back("answer");
    }
    void state_replaced(core::LogId /*last*/) override {}
    void noted(const core::Note& /*note*/) override {}
    void superseded() override {}
    void copied() override {}
    void stopped(const std::string& reason) override { FAIL() << reason; }

    template <class Message>
    Message newest() {
        for (auto each = sent.rbegin(); each != sent.rend(); ++each) {
            const auto* raft = std::get_if<core::RaftMessage>(&each->message);
            const auto* message = raft == nullptr ? nullptr : std::get_if<Message>(raft);
            if (message != nullptr) return *message;
        }
        throw std::runtime_error{"no such message was sent"};
    }

    std::vector<std::string> happened;
    std::vector<core::Envelope> sent;
    std::deque<core::Write> writes;
};

// Node 1 of three leads, and node 2 acknowledges only what a test says.
class DriverTest : public testing::Test {
protected:
    DriverTest() {
        const auto disk = disk_with(voters({1, 2, 3}), {core::Term{1}, {}}, {});
        const HandDrivenNode other{node_options(2, {1, 2, 3}), disk};
        driver_.handle(core::PeerUp{other.hello()}, now());
        at_ = driver_.deadline();
        driver_.handle(core::TimerFired{}, now());
        receive(
            core::PreVoteReply{core::Term{1}, ports_.newest<core::PreVoteRequest>().round, true});
        complete_writes();
        receive(core::VoteReply{core::Term{2}, ports_.newest<core::VoteRequest>().round, true});
        // The session of this node is opened, too.
        for (int round = 0; round < 5; ++round) {
            complete_writes();
            acknowledge();
        }
        ports_.happened.clear();
    }

    [[nodiscard]] Now now() const { return {at_, at_}; }
    void receive(core::RaftMessage message) {
        driver_.handle(core::Received{n2, std::move(message)}, now());
    }
    void acknowledge() { receive(accepts(2, driver_.core().raft().log().last().index.raw())); }
    void complete_writes() {
        while (!ports_.writes.empty()) {
            const auto id = ports_.writes.front().id;
            ports_.writes.pop_front();
            driver_.handle(core::WriteDone{id}, now());
        }
    }
    void acquire(std::uint64_t tag) {
        core::AcquireCall call;
        call.tag = core::CallTag{tag};
        call.request.names.push_back({"x"});
        core::Calls calls;
        calls.calls.emplace_back(std::move(call));
        driver_.handle(std::move(calls), now());
    }

    Ports ports_;
    core::Instant at_ = start;
    Driver driver_{node_options(1, {1, 2, 3}),
                   core::NodeState{disk_with(voters({1, 2, 3}), {core::Term{1}, {}}, {}), {}, {}},
                   {ports_, ports_, ports_, ports_},
                   Now{start, start}};
};

TEST_F(DriverTest, AnEntryGoesToThePeersBeforeItGoesToTheDisk) {
    acquire(1);
    EXPECT_THAT(ports_.happened, ElementsAre("flush", "write"));
}

TEST_F(DriverTest, CallersAreAnsweredBeforePeersLearnOfACommit) {
    acquire(1);
    core::BatchBuilder batch;
    batch.add(opening_of(n2, 10'000));  // every node has to learn of a new session
    driver_.handle(core::Received{n2, forward_of(batch.take())}, now());
    complete_writes();
    ports_.happened.clear();
    acknowledge();
    EXPECT_THAT(ports_.happened, ElementsAre("answer", "flush"));
    EXPECT_TRUE(ports_.newest<core::AppendRequest>().quiet);
}

// S6: another node may get the lock because of such a message.
TEST_F(DriverTest, NoMessageLeavesBeforeALossIsMarked) {  // P2
    acquire(1);
    complete_writes();
    acknowledge();
    ports_.happened.clear();
    at_ = at_ + std::chrono::seconds{60};
    // The answer to this message is in the step that finds the end of the lease.
    receive(core::PreVoteRequest{core::Term{2}, 7, driver_.core().raft().log().last()});
    EXPECT_THAT(ports_.happened, ElementsAre("lost", "flush"));
    EXPECT_EQ(ports_.newest<core::PreVoteReply>().round, 7U);
}

TEST_F(DriverTest, AStepThatSendsNothingDoesNotFlush) {
    driver_.handle(core::TimerFired{}, now());
    EXPECT_THAT(ports_.happened, ElementsAre());
}

}  // namespace
}  // namespace mortise
