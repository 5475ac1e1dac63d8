#include <stdexcept>
#include <utility>

#include "core/codec/command_codec.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "tests/bench/micro/tasks.hpp"

namespace mortise::bench {

namespace {

using namespace core;

// The stream of one session: so many acquires, each with a lock of its own, then their releases.
class Stream {
public:
    explicit Stream(std::size_t count) : count_{count} {}

    std::vector<Command> acquires() {
        std::vector<Command> batch;
        for (std::size_t i = 0; i < count_; ++i) {
            Acquire acquire;
            acquire.names.push_back({"jobs/nightly/" + std::to_string(i)});
            batch.emplace_back(next(std::move(acquire)));
        }
        return batch;
    }
    std::vector<Command> releases() {
        std::vector<Command> batch;
        const auto first = seq_ - count_;
        for (std::size_t i = 1; i <= count_; ++i)
            batch.emplace_back(next(Release{Seq{first + i}}));
        return batch;
    }
    void set_session(SessionId session) { session_ = session; }
    [[nodiscard]] SessionId session() const { return session_; }

private:
    Request next(RequestBody body) { return {session_, Seq{++seq_}, std::move(body)}; }

    std::size_t count_;
    SessionId session_{1};
    std::uint64_t seq_ = 0;
};

class ApplyTask : public Task {
public:
    explicit ApplyTask(std::size_t count) : stream_{count} {
        OpenSession open;
        open.node = NodeId{1};
        open.generation = {Incarnation{1}, BootEpoch{1}, 1};
        open.ttl_ms = 10'000;
        apply({open});
        stream_.set_session(std::get<SessionOpened>(outcomes_.at(0)).session);
    }
    void run() override {
        apply(stream_.acquires());
        apply(stream_.releases());
        // What was answered need not be remembered, nor be written.
        apply({Acknowledge{stream_.session(), index_}});
        (void)machine_.take_changed_rows();
    }

private:
    void apply(const std::vector<Command>& batch) {
        outcomes_.clear();
        index_ = LogIndex{index_.raw() + 1};
        machine_.apply(index_, batch, outcomes_);
    }

    Stream stream_;
    LockMachine machine_;
    LogIndex index_;
    Outcomes outcomes_;
};

Bytes encoded(const std::vector<Command>& batch) {
    BatchBuilder builder;
    for (const auto& command : batch)
        builder.add(command);
    return builder.take();
}

class EncodeTask : public Task {
public:
    explicit EncodeTask(std::size_t count)
        : stream_{count}, acquires_{stream_.acquires()}, releases_{stream_.releases()} {}
    void run() override {
        if (encoded(acquires_).empty() || encoded(releases_).empty())
            throw std::logic_error{"nothing was encoded"};
    }

private:
    Stream stream_;
    std::vector<Command> acquires_;
    std::vector<Command> releases_;
};

class DecodeTask : public Task {
public:
    explicit DecodeTask(std::size_t count)
        : stream_{count},
          acquires_{encoded(stream_.acquires())},
          releases_{encoded(stream_.releases())} {}
    void run() override {
        if (!decode_batch(acquires_) || !decode_batch(releases_))
            throw std::logic_error{"it was not decoded"};
    }

private:
    Stream stream_;
    Bytes acquires_;
    Bytes releases_;
};

template <class Kind>
NamedTask named(const std::string& name, std::size_t count) {
    return {name + "/" + std::to_string(count), count,
            [count] { return std::make_unique<Kind>(count); }};
}

}  // namespace

std::vector<NamedTask> machine_tasks() {
    return {named<ApplyTask>("apply", 1),   named<ApplyTask>("apply", 64),
            named<EncodeTask>("encode", 1), named<EncodeTask>("encode", 64),
            named<DecodeTask>("decode", 1), named<DecodeTask>("decode", 64)};
}

}  // namespace mortise::bench
