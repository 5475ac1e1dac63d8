// A session agent that a test drives by hand: its session is open, its leader is known, and the
// test decides whether anything is applied.
#pragma once

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/session_agent.hpp"

namespace mortise::core::test {

using namespace std::chrono_literals;

inline constexpr SessionId session{7};

// The commands that a step sends, batch by batch.
inline std::vector<Command> commands_in(const AgentOutput& output) {
    std::vector<Command> commands;
    for (const auto& forward : output.forwards) {
        for (auto& command : decode_batch(forward.batch).value_or(std::vector<Command>{}))
            commands.push_back(std::move(command));
    }
    return commands;
}

inline std::vector<Request> requests_in(const AgentOutput& output) {
    std::vector<Request> requests;
    for (auto& command : commands_in(output)) {
        if (auto* request = std::get_if<Request>(&command)) requests.push_back(std::move(*request));
    }
    return requests;
}

inline std::optional<Renewal> renewal_in(const AgentOutput& output) {
    return output.forwards.empty() ? std::nullopt : output.forwards.front().renewal;
}

struct Agent {
    Agent() {
        agent.on_leader(true, now);
        const auto sent = commands_in(agent.collect(now));
        const auto& opening = std::get<OpenSession>(sent.front());
        agent.on_outcome(SessionOpened{session, opening.nonce}, LogIndex{1}, now);
    }

    static AgentOptions options() {
        AgentOptions options;
        options.node = NodeId{1};
        options.generation.incarnation = Incarnation{9};
        options.generation.boot_epoch = BootEpoch{1};
        return options;
    }
    // The options of a session that outlives every test.
    static AgentOptions of_a_day() {
        auto day = options();
        day.ttl_ms = 24 * 3'600'000;
        return day;
    }
    // Returns how many of them were refused at once.
    std::size_t acquire(std::size_t count, Instant deadline) {
        for (std::size_t i = 0; i < count; ++i) {
            AcquireCall call;
            call.tag = CallTag{++tag};
            call.request.names = {{"name", LockMode::exclusive}};
            call.deadline = deadline;
            agent.on_acquire(std::move(call), now);
        }
        std::size_t refused = 0;
        for (const auto& answer : agent.collect(now).answers) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (error != nullptr && *error == CallError::resource_exhausted) ++refused;
        }
        return refused;
    }
    // The requests that are sent now.
    std::vector<Request> sent() {
        auto output = agent.collect(now);
        agent.check_invariants();
        std::ranges::move(output.answers, std::back_inserter(kept));
        return requests_in(output);
    }
    // All requests that are sent without further events, in order.
    std::vector<Request> send_all() {
        std::vector<Request> all;
        for (auto some = sent(); !some.empty(); some = sent())
            std::ranges::move(some, std::back_inserter(all));
        return all;
    }
    void pass(Nanoseconds time) {
        now = {now.steady + time, now.boot + time};
        agent.begin(now);
        agent.on_timer(now);
    }

    void queued(Seq seq) { agent.on_outcome(Queued{{session, seq}}, LogIndex{++index}, now); }
    void answered(Seq seq, AnswerKind kind) {
        const Answer answer{kind, FencingToken{5}, {}};
        agent.on_outcome(Answered{{session, seq}, answer}, LogIndex{++index}, now);
    }
    // The only answer that it gives its program now.
    CallAnswer answer() {
        auto answers = agent.collect(now).answers;
        EXPECT_EQ(answers.size(), 1U);
        return std::move(answers.at(0));
    }
    // The agent has the lock when this returns: operation 1 of its session.
    OperationId hold() {
        acquire(1, Instant::never());
        answered(Seq{1}, AnswerKind::granted);
        agent.collect(now);
        return {session, Seq{1}};
    }
    // The same once more, for another name.
    OperationId another_hold(std::string name) {
        AcquireCall call;
        call.tag = CallTag{++tag};
        call.request.names = {{std::move(name), LockMode::exclusive}};
        agent.on_acquire(std::move(call), now);
        const auto seq = send_all().front().seq;
        answered(seq, AnswerKind::granted);
        agent.collect(now);
        return {session, seq};
    }
    // The losses that it reports now.
    std::vector<HoldLost> lost() { return agent.collect(now).lost; }
    // The owners of its first holds were notified of their losses.
    void owners_notified(std::uint64_t count) {
        for (std::uint64_t seq = 1; seq <= count; ++seq)
            agent.on_notified({session, Seq{seq}});
    }
    // `to_notify`: the holds whose owners have to be notified first.
    void close(std::vector<OperationId> to_notify = {}) {
        agent.on_close(CloseCall{closing, std::move(to_notify)}, now);
    }
    // A state in which its session lives, and has applied that many requests.
    static Session own_session(Seq applied) {
        Session own;
        own.id = session;
        own.applied = applied;
        return own;
    }
    void state_replaced(Session own) {
        SessionTable table;
        table.restore(std::move(own));
        agent.on_state_replaced(table, now);
        agent.check_invariants();
    }
    void session_ends(SessionEnd how) {
        agent.on_outcome(SessionEnded{session, how}, LogIndex{++index}, now);
    }
    // The answers to that call since the last time; Closed and Released count as no error.
    std::vector<std::optional<CallError>> answers_to(CallTag wanted) {
        std::vector<std::optional<CallError>> answers;
        std::ranges::move(agent.collect(now).answers, std::back_inserter(kept));
        for (const auto& answer : std::exchange(kept, {})) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (answer.tag == wanted)
                answers.push_back(error ? std::optional{*error} : std::nullopt);
        }
        return answers;
    }

    static constexpr CallTag closing{1'000'000};
    std::uint64_t index = 1;
    Now now{Instant{1'000'000'000}, Instant{1'000'000'000}};
    SessionAgent agent{options(), Prng{1}, now};
    std::uint64_t tag = 0;
    std::vector<CallAnswer> kept;  // which sent() received
};

}  // namespace mortise::core::test
