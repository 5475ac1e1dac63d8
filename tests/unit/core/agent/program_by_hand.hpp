// A program that locks through an agent: its calls, its answers, and the holds that it assumes to
// have. In every step it checks what must always hold, whatever happens to messages in transit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "core/locks/lock_mode.hpp"
#include "tests/unit/core/agent/cluster_by_hand.hpp"
#include "tests/unit/core/agent/issue_order.hpp"

namespace mortise::core::test {

class ProgramByHand {
public:
    using Names = IssueOrder::Names;
    struct Hold {
        Names names;
        LockMode mode = LockMode::exclusive;  // as its owner assumes
        CallTag upgrade{};                    // the waiting one, if any
    };
    using Holds = std::map<OperationId, Hold>;

    // --- its calls

    // All names in the same mode.
    void acquire(Acquire request, Instant deadline = Instant::never()) {
        AcquireCall call;
        call.tag = next_tag();
        request.label = std::to_string(call.tag.raw());
        call.request = std::move(request);
        call.deadline = deadline;
        asked_for(call.tag, names_of(call.request), call.request.names.front().mode);
        cluster.agent.on_acquire(std::move(call), cluster.now);
    }
    void cancel(CallTag call) { cluster.agent.on_cancel({call}, cluster.now); }
    void release(OperationId id, bool waits) {
        holds_.erase(id);
        cluster.agent.on_release({waits ? next_tag() : CallTag{}, id}, cluster.now);
    }
    void downgrade(OperationId id, LockMode mode) {
        holds_.at(id).mode = mode;
        cluster.agent.on_downgrade({next_tag(), id, mode}, cluster.now);
    }
    void upgrade(OperationId id, bool waits) {
        auto& hold = holds_.at(id);
        hold.upgrade = next_tag();
        upgrades_[hold.upgrade] = id;
        order_.upgrade_asked(hold.upgrade, id.seq, hold.names);
        cluster.agent.on_upgrade({hold.upgrade, id, waits, Instant::never()}, cluster.now);
    }
    void cancel_all() {
        for (const auto call : waiting())
            cancel(call);
    }
    void release_all() {
        while (!holds_.empty())
            release(holds_.begin()->first, false);
    }

    [[nodiscard]] const Holds& holds() const { return holds_; }
    [[nodiscard]] std::vector<CallTag> waiting() const { return order_.waiting(); }
    // Since the start.
    [[nodiscard]] std::size_t grants() const { return grants_; }
    [[nodiscard]] std::size_t upgrades() const { return upgrades_done_; }

    // --- events

    void arrive(const ClusterByHand::Message& message, bool told = true) {
        for (const auto seq : cluster.arrive(message, told))
            order_.took_effect(seq);
    }
    void lose(std::size_t at) {
        auto& under_way = cluster.under_way;
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
    }
    // Until nothing is in transit.
    void deliver_all() {
        for (step(); !cluster.under_way.empty(); step()) {
            for (const auto& message : std::exchange(cluster.under_way, {}))
                arrive(message);
        }
    }
    // Without losses.
    void let_pass(int seconds) {
        for (int i = 0; i < seconds && !testing::Test::HasFailure(); ++i) {
            deliver_all();
            cluster.pass(1s);
        }
    }

    void step() {
        const auto done = cluster.step();
        for (const auto& answer : done.answers)
            take(answer);
        for (const auto& request : done.sent)
            order_.sent(request);
        EXPECT_TRUE(done.lost.empty()) << "a hold is lost";
        for (const auto& [id, hold] : holds_) {
            for (const auto& name : hold.names)
                expect_is_held(id, name, hold.mode);
        }
    }
    void expect_all_sent() const { order_.expect_all_sent(); }
    void expect_nothing_is_left(const Names& names) const {
        EXPECT_EQ(cluster.agent.outstanding(), 0U);
        for (const auto& name : names) {
            const auto seen = cluster.machine.inspect(name);
            EXPECT_TRUE(seen.holders.empty()) << "of " << name;
            EXPECT_TRUE(seen.waiters.empty()) << "for " << name;
        }
    }

    ClusterByHand cluster;

private:
    CallTag next_tag() { return newest_tag_ = newest_tag_.next(); }
    void asked_for(CallTag tag, Names names, LockMode mode) {
        order_.acquire_asked(tag, names);
        asked_[tag] = {std::move(names), mode};
    }

    void take(const CallAnswer& answer) {
        order_.answered(answer.tag);
        if (const auto upgrade = upgrades_.find(answer.tag); upgrade != upgrades_.end()) {
            upgrade_ended(upgrade->second, answer);
        }
        if (const auto* acquired = std::get_if<Acquired>(&answer.result)) {
            Hold got{{}, asked_.at(answer.tag).mode};
            for (const auto& part : acquired->parts)
                got.names.push_back(part.name);
            granted(acquired->hold, std::move(got));
        }
        const auto* error = std::get_if<CallError>(&answer.result);
        EXPECT_TRUE(error == nullptr || may_happen(*error))
            << "call " << answer.tag.raw() << ": error " << static_cast<int>(*error);
    }
    void upgrade_ended(OperationId id, const CallAnswer& answer) {
        const auto held = holds_.find(id);
        if (held == holds_.end()) return;
        auto& hold = held->second;
        if (hold.upgrade == answer.tag) hold.upgrade = {};
        if (!std::holds_alternative<Converted>(answer.result)) return;
        hold.mode = LockMode::exclusive;
        ++upgrades_done_;
    }
    void granted(OperationId id, Hold hold) {
        ++grants_;
        order_.granted(id.seq, hold.names);
        holds_[id] = std::move(hold);
    }
    // No call asks for anything invalid, and the session lives on.
    static bool may_happen(CallError error) {
        static constexpr std::array expected{
            CallError::timed_out,          CallError::cancelled,       CallError::no_quorum,
            CallError::resource_exhausted, CallError::outcome_unknown, CallError::deadlock,
        };
        return std::ranges::find(expected, error) != expected.end();
    }
    void expect_is_held(OperationId hold, const std::string& name, LockMode believed) const {
        const auto holders = cluster.machine.inspect(name).holders;
        const auto grant = std::ranges::find(holders, hold, &Grant::operation);
        ASSERT_NE(grant, holders.end()) << "hold " << hold.seq.raw() << " has no " << name;
        EXPECT_TRUE(covers(grant->mode, believed))
            << "hold " << hold.seq.raw() << " has " << name << " in mode "
            << static_cast<int>(grant->mode) << " and believes " << static_cast<int>(believed);
    }

    IssueOrder order_;
    CallTag newest_tag_;
    std::map<CallTag, Hold> asked_;  // by acquires
    std::map<CallTag, OperationId> upgrades_;
    Holds holds_;
    std::size_t grants_ = 0;
    std::size_t upgrades_done_ = 0;
};

}  // namespace mortise::core::test
