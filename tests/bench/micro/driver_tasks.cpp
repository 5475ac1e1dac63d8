#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "embed/runtime/driver.hpp"
#include "tests/bench/core_cluster.hpp"
#include "tests/bench/micro/tasks.hpp"

namespace mortise::bench {

namespace {

// Disks that have everything at once, nobody to send to, and a program that counts answers.
class InstantPorts final : public LogWriter,
                           public StateWriter,
                           public PeerSender,
                           public Publisher {
public:
    void submit(core::Write write) override { written = write.id; }
    void purge_to(const core::LogBase& /*base*/) override {}
    void save(core::StateDelta delta) override { saved = delta.applied.index; }
    void save_countdowns(core::SavedCountdowns /*countdowns*/) override {}
    void read_snapshot(core::SnapshotRead /*read*/) override {}
    void close_snapshot(core::NodeId /*peer*/) override {}
    void install(core::InstallStep /*step*/) override {}
    void send(core::NodeId /*to*/, core::PeerMessage /*message*/) override {}
    void applied(const core::Applied& /*applied*/) override {}
    void lost(const core::HoldLost& /*lost*/) override {}
    void suspended(core::OperationId /*hold*/) override {}
    void lease_changed(const core::LeaseChanged& /*lease*/) override {}
    void answered(std::vector<core::CallAnswer> given) override {
        answers += given.size();
        for (const auto& answer : given) {
            if (const auto* acquired = std::get_if<core::Acquired>(&answer.result))
                holds.push_back(acquired->hold);
        }
    }
    void state_replaced(core::LogId /*last*/) override {}
    void noted(const core::Note& /*note*/) override {}
    void superseded() override {}
    void copied() override {}
    void stopped(const std::string& reason) override { throw std::runtime_error{reason}; }

    std::optional<core::WriteId> written;
    std::optional<core::LogIndex> saved;
    std::vector<core::OperationId> holds;
    std::size_t answers = 0;
};

// A cluster of one node: so many calls in one event, until all are answered.
class CallTask : public Task {
public:
    explicit CallTask(std::size_t count)
        : count_{count},
          driver_{options_of(0, 1), core::NodeState{}, {ports_, ports_, ports_, ports_}, now()} {
        handle(core::TimerFired{});  // it founds its cluster
        for (int i = 0; i < 10'000; ++i)
            pass_time();
    }
    void run() override {
        core::Calls calls;
        for (std::size_t i = 0; i < count_; ++i)
            calls.calls.emplace_back(acquire_call(++tag_, "jobs/nightly/" + std::to_string(i)));
        complete(std::move(calls));
        core::Calls releases;
        for (const auto& hold : ports_.holds)
            releases.calls.emplace_back(core::ReleaseCall{core::CallTag{++tag_}, hold});
        ports_.holds.clear();
        complete(std::move(releases));
        pass_time();
    }

private:
    [[nodiscard]] core::Now now() const { return {clock_, clock_}; }

    void complete(core::Calls calls) {
        ports_.answers = 0;
        handle(std::move(calls));
        if (ports_.answers != count_) throw std::runtime_error{"a call was not answered"};
    }
    void handle(core::Event event) {
        driver_.handle(std::move(event), now());
        while (ports_.written || ports_.saved) {
            if (const auto id = std::exchange(ports_.written, {}))
                driver_.handle(core::WriteDone{*id}, now());
            if (const auto index = std::exchange(ports_.saved, {}))
                driver_.handle(core::StateDurable{*index}, now());
        }
    }
    void pass_time() {
        clock_ = clock_ + std::chrono::microseconds{500};
        if (driver_.deadline() <= clock_) handle(core::TimerFired{});
    }

    std::size_t count_;
    InstantPorts ports_;
    core::Instant clock_{std::chrono::nanoseconds{std::chrono::seconds{1}}.count()};
    Driver driver_;
    std::uint64_t tag_ = 0;
};

NamedTask named(std::size_t count) {
    return {"call to answer/" + std::to_string(count), count,
            [count] { return std::make_unique<CallTask>(count); }};
}

}  // namespace

std::vector<NamedTask> driver_tasks() {
    return {named(1), named(64)};
}

}  // namespace mortise::bench
