// Ten thousand requests wait for one name: no grant walks through all of them. The cost of a grant
// is in the result as a property, in microseconds (--gtest_output=json).
#include <ctime>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/base/prng.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

struct Crowd {
    const char* name;
    bool has_priorities = false;
    bool has_readers = false;
    bool has_lockers = false;  // each with another name besides
    bool leaves = false;       // for each grant, a waiter in the middle of the queue gives up
};

// The same number of requests waits at any time: a session that releases the name asks for it
// again.
class CrowdOfWaiters {
public:
    CrowdOfWaiters(const Crowd& crowd, std::uint64_t waiters)
        : crowd_{crowd}, sessions_{waiters / waiters_per_session}, seqs_(sessions_ + 1) {
        for (std::uint64_t i = 1; i <= sessions_; ++i)
            apply({opening(i)});
        for (std::uint64_t i = 0; i <= waiters; ++i)
            apply(arrival(1 + i % sessions_));
    }

    // The processor time of one grant, as the average of `grants`, in microseconds.
    double per_grant(std::size_t grants) {
        granted_ = 0;
        const auto before = std::clock();
        while (granted_ < grants)
            turn();
        const auto took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
        return took * 1e6 / static_cast<double>(granted_);
    }

private:
    static constexpr std::uint64_t waiters_per_session = 10;

    static OpenSession opening(std::uint64_t who) {
        OpenSession open;
        open.nonce = who;
        open.node = NodeId{who};
        open.generation.incarnation = Incarnation{who};
        open.generation.boot_epoch = BootEpoch{1};
        open.ttl_ms = 10'000;
        return open;
    }
    Request request(std::uint64_t session, RequestBody body) {
        return {SessionId{session}, Seq{++seqs_[session]}, std::move(body)};
    }
    Acquire wish() {
        Acquire wish;
        wish.names.push_back({"crowded"});
        if (crowd_.has_readers && prng_.one_in(2)) wish.names.front().mode = LockMode::shared;
        if (crowd_.has_priorities) wish.priority = static_cast<Priority>(prng_.below(8));
        if (crowd_.has_lockers) wish.locker = {++newest_locker_, {}};
        return wish;
    }
    std::vector<Command> arrival(std::uint64_t session) {
        auto wish = this->wish();
        std::vector<Command> batch;
        if (crowd_.has_lockers) {
            auto own = wish;
            own.names.front().name = "of locker " + std::to_string(newest_locker_);
            batch.emplace_back(request(session, own));
        }
        batch.emplace_back(request(session, wish));
        return batch;
    }
    void turn() {
        const auto leaving = holders_.front();
        holders_.pop_front();
        const auto session = leaving.session.raw();
        std::vector<Command> batch{Acknowledge{leaving.session, index_}};
        batch.emplace_back(request(session, Release{leaving.seq}));
        batch.emplace_back(request(session, wish()));
        if (crowd_.leaves) give_up(batch);
        apply(batch);
    }
    // One of the waiters leaves, and another one comes.
    void give_up(std::vector<Command>& batch) {
        OperationId leaving;
        do {
            const auto place = static_cast<std::size_t>(prng_.below(waiting_.size()));
            std::swap(waiting_[place], waiting_.back());
            leaving = waiting_.back();
            waiting_.pop_back();
        } while (!waits(leaving));
        batch.emplace_back(request(leaving.session.raw(), Cancel{leaving.seq}));
        batch.emplace_back(request(leaving.session.raw(), wish()));
    }
    [[nodiscard]] bool waits(OperationId one) const {
        return machine_.sessions().find(one.session)->operations.waits(one.seq);
    }
    void apply(const std::vector<Command>& batch) {
        index_ = index_.next();
        Outcomes outcomes;
        machine_.apply(index_, batch, outcomes);
        for (const auto& outcome : outcomes) {
            if (const auto* queued = std::get_if<Queued>(&outcome))
                waiting_.push_back(queued->operation);
            const auto* answered = std::get_if<Answered>(&outcome);
            const bool grant = answered != nullptr && answered->answer.kind == AnswerKind::granted;
            if (!grant || !is_of_the_crowd(answered->operation)) continue;
            holders_.push_back(answered->operation);
            ++granted_;
        }
    }
    [[nodiscard]] bool is_of_the_crowd(OperationId operation) const {
        const auto& operations = machine_.sessions().find(operation.session)->operations;
        const auto* found = operations.find(operation.seq);  // it may have given up meanwhile
        return found != nullptr && found->name() == "crowded";
    }

    const Crowd crowd_;
    const std::uint64_t sessions_;
    std::vector<std::uint64_t> seqs_;
    std::uint64_t newest_locker_ = 0;
    Prng prng_{1};
    LockMachine machine_;
    LogIndex index_;
    std::deque<OperationId> holders_;
    std::vector<OperationId> waiting_;  // some of them no more
    std::size_t granted_ = 0;
};

class LockMachineCrowdedQueue : public testing::TestWithParam<Crowd> {};

TEST_P(LockMachineCrowdedQueue, IsNotWalkedThroughForAGrant) {
    constexpr std::size_t grants = 2'000;
    const auto few = CrowdOfWaiters{GetParam(), 100}.per_grant(grants);
    const auto many = CrowdOfWaiters{GetParam(), 10'000}.per_grant(grants);
    RecordProperty("among_100", std::to_string(few));
    RecordProperty("among_10000", std::to_string(many));
    EXPECT_LT(many, 20 * few);  // by a walk it would be a hundred times as much
}

INSTANTIATE_TEST_SUITE_P(Kinds, LockMachineCrowdedQueue,
                         testing::Values(Crowd{.name = "Writers"},
                                         Crowd{.name = "Priorities", .has_priorities = true},
                                         Crowd{.name = "Readers", .has_readers = true},
                                         Crowd{.name = "Lockers", .has_lockers = true},
                                         Crowd{.name = "Leavers", .leaves = true}),
                         [](const auto& kind) { return std::string{kind.param.name}; });

}  // namespace
}  // namespace mortise::core
