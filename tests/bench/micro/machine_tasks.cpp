#include <stdexcept>
#include <utility>

#include "core/codec/command_codec.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "tests/bench/micro/tasks.hpp"

namespace mortise::bench {

namespace {

using namespace core;

// The stream of one session.
class Caller {
public:
    explicit Caller(SessionId session) : session_{session} {}

    // A batch of so many requests: what `make` returns for 0, 1, 2, ...
    template <class Make>
    std::vector<Command> ask(std::size_t count, const Make& make) {
        std::vector<Command> batch;
        first_ = Seq{seq_ + 1};
        for (std::size_t at = 0; at < count; ++at)
            batch.emplace_back(Request{session_, Seq{++seq_}, make(at)});
        return batch;
    }
    // The number of the first request of the newest batch.
    [[nodiscard]] Seq first() const { return first_; }
    [[nodiscard]] SessionId session() const { return session_; }

private:
    SessionId session_;
    std::uint64_t seq_ = 0;
    Seq first_;
};

std::string name_of(std::size_t at) {
    return "jobs/nightly/" + std::to_string(at);
}

Acquire acquire(std::size_t at, LockMode mode = LockMode::exclusive) {
    Acquire acquire;
    acquire.names.push_back({name_of(at), mode});
    return acquire;
}

// A machine with two sessions. A cycle is an acquire, with what follows until nothing is left of
// it.
class ApplyTask : public Task {
public:
    using Cycles = void (*)(ApplyTask&);
    ApplyTask(std::size_t count, std::size_t held, Cycles cycles) : count_{count}, cycles_{cycles} {
        for (auto* caller : {&one, &two}) {
            OpenSession open;
            open.nonce = caller->session().raw();
            open.node = NodeId{1};
            open.ttl_ms = 10'000;
            apply({open});
        }
        Caller holder{one};
        constexpr std::size_t piece = 1'000;
        for (std::size_t at = 0; at < held; at += piece) {
            apply(holder.ask(piece, [&](std::size_t i) { return acquire(1'000 + at + i); }));
            finish();
        }
        one = holder;
    }
    void run() override {
        cycles_(*this);
        finish();
    }
    // One entry: what `make` returns for each of the cycles. Returns the numbers of these requests.
    template <class Make>
    auto entry(Caller& caller, const Make& make) {
        apply(caller.ask(count_, make));
        return [first = caller.first()](std::size_t at) { return Seq{first.raw() + at}; };
    }

    Caller one{SessionId{1}};
    Caller two{SessionId{2}};

private:
    void apply(const std::vector<Command>& batch) {
        outcomes_.clear();
        index_ = index_.next();
        machine_.apply(index_, batch, outcomes_);
    }
    // What was answered need not be remembered, nor be written.
    void finish() {
        apply({Acknowledge{one.session(), index_}, Acknowledge{two.session(), index_}});
        (void)machine_.take_changed_rows();
    }

    std::size_t count_;
    Cycles cycles_;
    LockMachine machine_;
    LogIndex index_;
    Outcomes outcomes_;
};

template <class Make>
void acquire_and_release(ApplyTask& task, const Make& make) {
    const auto hold = task.entry(task.one, make);
    task.entry(task.one, [&](std::size_t at) { return Release{hold(at)}; });
}

void plain(ApplyTask& task) {
    acquire_and_release(task, [](std::size_t at) { return acquire(at); });
}

void permits(ApplyTask& task) {
    acquire_and_release(task, [](std::size_t at) {
        auto request = acquire(at);
        request.permits = 1;
        request.limit = 2;
        return request;
    });
}

void several(ApplyTask& task) {
    acquire_and_release(task, [](std::size_t at) {
        auto request = acquire(2 * at);
        request.names.push_back({name_of(2 * at) + "/more"});
        request.which = Acquire::Which::all;
        return request;
    });
}

void handed_over(ApplyTask& task) {
    const auto take = [](std::size_t at) { return acquire(at); };
    const auto hold = task.entry(task.one, take);
    const auto next = task.entry(task.two, take);
    task.entry(task.one, [&](std::size_t at) { return Release{hold(at)}; });
    task.entry(task.two, [&](std::size_t at) { return Release{next(at)}; });
}

void cancelled(ApplyTask& task) {
    const auto take = [](std::size_t at) { return acquire(at); };
    const auto hold = task.entry(task.one, take);
    const auto next = task.entry(task.two, take);
    task.entry(task.two, [&](std::size_t at) { return Cancel{next(at)}; });
    task.entry(task.one, [&](std::size_t at) { return Release{hold(at)}; });
}

void converted(ApplyTask& task) {
    const auto hold =
        task.entry(task.one, [](std::size_t at) { return acquire(at, LockMode::update); });
    task.entry(task.one, [&](std::size_t at) { return Upgrade{hold(at)}; });
    task.entry(task.one, [&](std::size_t at) { return Release{hold(at)}; });
}

void with_a_value(ApplyTask& task) {
    const auto hold = task.entry(task.one, [](std::size_t at) { return acquire(at); });
    task.entry(task.one, [&](std::size_t at) { return SetValue{hold(at), name_of(at), "value"}; });
    task.entry(task.one, [&](std::size_t at) { return SetValue{hold(at), name_of(at), ""}; });
    task.entry(task.one, [&](std::size_t at) { return Release{hold(at)}; });
}

Bytes encoded(const std::vector<Command>& batch) {
    BatchBuilder builder;
    for (const auto& command : batch)
        builder.add(command);
    return builder.take();
}

std::vector<Command> acquires(std::size_t count) {
    return Caller{SessionId{1}}.ask(count, [](std::size_t at) { return acquire(at); });
}
std::vector<Command> releases(std::size_t count) {
    return Caller{SessionId{1}}.ask(count, [](std::size_t at) { return Release{Seq{1 + at}}; });
}

class EncodeTask : public Task {
public:
    explicit EncodeTask(std::size_t count)
        : acquires_{acquires(count)}, releases_{releases(count)} {}
    void run() override {
        if (encoded(acquires_).empty() || encoded(releases_).empty())
            throw std::logic_error{"nothing was encoded"};
    }

private:
    std::vector<Command> acquires_;
    std::vector<Command> releases_;
};

class DecodeTask : public Task {
public:
    explicit DecodeTask(std::size_t count)
        : acquires_{encoded(acquires(count))}, releases_{encoded(releases(count))} {}
    void run() override {
        if (!decode_batch(acquires_) || !decode_batch(releases_))
            throw std::logic_error{"it was not decoded"};
    }

private:
    Bytes acquires_;
    Bytes releases_;
};

template <class Kind>
NamedTask named(const std::string& name, std::size_t count) {
    return {name + "/" + std::to_string(count), count,
            [count] { return std::make_unique<Kind>(count); }};
}

NamedTask applied(const std::string& name, std::size_t count, ApplyTask::Cycles cycles,
                  std::size_t held = 0) {
    return {name + "/" + std::to_string(count), count,
            [=] { return std::make_unique<ApplyTask>(count, held, cycles); }};
}

}  // namespace

std::vector<NamedTask> machine_tasks() {
    constexpr std::size_t many = 100'000;
    return {applied("apply", 1, plain),
            applied("apply", 64, plain),
            applied("apply", 1'024, plain),
            applied("apply beside 100,000 holds", 64, plain, many),
            applied("apply of permits", 64, permits),
            applied("apply of two names", 64, several),
            applied("apply with a waiter", 64, handed_over),
            applied("apply with a cancel", 64, cancelled),
            applied("apply with an upgrade", 64, converted),
            applied("apply with a value", 64, with_a_value),
            named<EncodeTask>("encode", 1),
            named<EncodeTask>("encode", 64),
            named<DecodeTask>("decode", 1),
            named<DecodeTask>("decode", 64)};
}

}  // namespace mortise::bench
