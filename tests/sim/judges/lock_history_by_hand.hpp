// A log of two nodes, made by hand, and its judge.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/sim/judges/lock_history.hpp"

namespace mortise::sim::test {

inline constexpr core::NodeId a{1};
inline constexpr core::NodeId b{2};
inline constexpr core::SessionId of_a{1};
inline constexpr core::SessionId of_b{2};

// The length of a lease in the tests, from when its renewal was sent.
inline constexpr core::Nanoseconds trust{1'000};

inline core::Request acquire(core::SessionId session, std::uint64_t seq, bool wait = true) {
    core::Acquire body;
    body.names.push_back({"name"});
    body.wait = wait;
    return {session, core::Seq{seq}, body};
}

inline core::Request release(core::SessionId session, std::uint64_t seq, std::uint64_t operation) {
    return {session, core::Seq{seq}, core::Release{core::Seq{operation}}};
}

inline core::OpenSession opening(core::NodeId node) {
    core::OpenSession open;
    open.nonce = 10 + node.raw();
    open.node = node;
    open.generation.incarnation = core::Incarnation{20 + node.raw()};
    open.generation.boot_epoch = core::BootEpoch{1};
    open.ttl_ms = 1'000;
    return open;
}

inline core::OperationId operation(core::SessionId session, std::uint64_t seq) {
    return {session, core::Seq{seq}};
}

// The log of two nodes with a session each. The history is correct until a test changes it.
struct LockHistoryTest : testing::Test {
    LockHistoryTest() {
        history.applied(a, entry({opening(a), opening(b)}));
        lease(a, of_a, 1'000);
        lease(b, of_b, 1'000);
    }

    // The next entry, as the machine applies it.
    core::Applied entry(const std::vector<core::Command>& commands) {
        core::BatchBuilder batch;
        for (const auto& command : commands)
            batch.add(command);
        last = last.next();
        core::Applied applied{
            core::make_entry({core::Term{1}, last}, core::EntryKind::commands, batch.take()), {}};
        machine.apply(last, commands, applied.outcomes);
        return applied;
    }
    core::Applied era() {
        last = last.next();
        core::Applied applied{core::make_entry({core::Term{1}, last}, core::EntryKind::era, {}),
                              {}};
        machine.begin_era(last, applied.outcomes);
        return applied;
    }
    // The session's last request, in an entry of its own.
    core::Command closing(core::SessionId session) const {
        const auto next = machine.sessions().find(session)->applied.next();
        return core::Request{session, next, core::CloseSession{}};
    }
    void apply(const std::vector<core::Command>& commands) { history.applied(a, entry(commands)); }
    void lease(core::NodeId node, core::SessionId session, std::int64_t until) {
        history.lease_changed(node, {session, {until}});
    }
    void ask(core::NodeId node, std::uint64_t tag) {
        core::AcquireCall call;
        call.tag = core::CallTag{tag};
        call.request.names.push_back({"name"});
        history.asked(node, call);
    }
    // With the mode that it has in the cluster.
    [[nodiscard]] core::Acquired acquired(core::OperationId hold, core::FencingToken token) const {
        core::Acquired acquired{hold, {{"name", core::LockMode::exclusive, token, {}}}};
        for (const auto& grant : machine.inspect("name").holders) {
            if (grant.operation == hold) acquired.parts.front().mode = grant.mode;
        }
        return acquired;
    }
    void answer(core::NodeId node, std::uint64_t tag, core::OperationId hold,
                core::FencingToken token) {
        history.answered(node, {core::CallTag{tag}, acquired(hold, token)}, last);
    }
    [[nodiscard]] core::FencingToken token_of(core::OperationId hold) const {
        for (const auto& grant : machine.inspect("name").holders) {
            if (grant.operation == hold) return grant.token;
        }
        return {};
    }
    static core::Answered& granted(core::Applied& applied) {
        for (auto& outcome : applied.outcomes) {
            if (auto* answered = std::get_if<core::Answered>(&outcome)) return *answered;
        }
        throw std::logic_error{"nothing was answered"};
    }
    void inspect(core::NodeId node, std::uint64_t tag) {
        core::InspectCall call;
        call.tag = core::CallTag{tag};
        call.name = "name";
        history.inspected(node, call);
    }
    // The hold is granted and reported, and its owner regards it as valid.
    void acquire_and_tell(core::NodeId node, core::SessionId session, std::uint64_t seq) {
        ask(node, seq);
        apply({acquire(session, seq)});
        answer(node, seq, operation(session, seq), token_of(operation(session, seq)));
    }
    [[nodiscard]] std::string found() const {
        return violations.first() ? violations.first()->what : "";
    }

    Violations violations;
    Tally tally;
    std::map<core::NodeId, core::Instant> boot;
    bool out_of_bounds = false;
    LockHistory history{violations,
                        tally,
                        {[this](core::NodeId node) { return boot[node]; },
                         [this](core::NodeId) { return out_of_bounds; }},
                        trust};
    core::LockMachine machine;
    core::LogIndex last;
};

}  // namespace mortise::sim::test
