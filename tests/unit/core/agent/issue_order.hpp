// The calls of a program, in order, and which of them took effect in the cluster: on one name, none
// takes effect before an earlier one (S20).
//
// A call that was given up may never take effect, so no call has to come after it. An upgrade that
// waits for the end of the previous one delays no call either.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/agent/call.hpp"
#include "core/base/overloaded.hpp"

namespace mortise::core::test {

class IssueOrder {
public:
    using Names = core::Names;

    // Tags rise. An acquire has its tag as its label.
    void acquire_asked(CallTag tag, Names names) { calls_[tag].names = std::move(names); }
    void upgrade_asked(CallTag tag, Seq hold, Names names) {
        calls_[tag].names = std::move(names);
        calls_[tag].upgrades = hold;
    }
    void granted(Seq hold, Names names) { held_[hold] = std::move(names); }
    // The call has its answer.
    void answered(CallTag tag) {
        const auto call = calls_.find(tag);
        if (call != calls_.end()) call->second.waits = false;
    }

    void sent(const Request& request) {
        const auto seq = request.seq;
        if (call_of_.contains(seq) || endings_.contains(seq)) return;  // a duplicate
        std::visit(Overloaded{
                       [&](const Acquire& asked) { call_sent(seq, tag_in(asked.label)); },
                       [&](const Upgrade& asked) { call_sent(seq, upgrade_of(asked.operation)); },
                       [&](const Release& asked) { ending_sent(seq, asked.operation); },
                       [&](const Cancel& asked) { ending_sent(seq, asked.operation); },
                       [&](const Downgrade& asked) { ending_sent(seq, asked.operation); },
                       [](const Declined&) {},  // it was given up before
                       [](const auto&) { FAIL() << "nobody asked for that"; },
                   },
                   request.body);
    }
    void took_effect(Seq seq) {
        there_.insert(seq);
        const auto found = call_of_.find(seq);
        if (found == call_of_.end()) return;
        expect_no_call_passed(found->second);
        if (calls_.at(found->second).waits) expect_no_ending_passed(seq);
    }

    [[nodiscard]] std::vector<CallTag> waiting() const {
        std::vector<CallTag> tags;
        for (const auto& [tag, call] : calls_) {
            if (call.waits) tags.push_back(tag);
        }
        return tags;
    }
    void expect_all_sent() const {
        for (const auto& [tag, call] : calls_)
            EXPECT_TRUE(!call.waits || call.seq.is_set()) << describe(tag) << " is kept back";
    }

private:
    struct Call {
        Names names;
        Seq upgrades;  // a hold; not set: it is an acquire
        Seq seq;       // not set: not sent yet
        bool waits = true;
    };

    static CallTag tag_in(const std::string& label) { return CallTag{std::stoull(label)}; }
    static bool share_a_name(const Names& one, const Names& other) {
        return std::ranges::find_first_of(one, other) != one.end();
    }
    // The pending upgrade of a hold, of which there is at most one. Not set: none.
    CallTag upgrade_of(Seq hold) const {
        const auto found = std::ranges::find_if(calls_, [&](const auto& entry) {
            const auto& call = entry.second;
            return call.waits && call.upgrades == hold && !call.seq.is_set();
        });
        return found == calls_.end() ? CallTag{} : found->first;
    }
    void call_sent(Seq seq, CallTag tag) {
        const auto call = calls_.find(tag);
        ASSERT_NE(call, calls_.end()) << "number " << seq.raw() << " is nobody's call";
        call->second.seq = seq;
        call_of_[seq] = tag;
    }
    // A hold from a request for any has only the name that was granted.
    void ending_sent(Seq seq, Seq ended) {
        const auto held = held_.find(ended);
        if (held != held_.end()) {
            endings_[seq] = held->second;
            return;
        }
        const auto call = call_of_.find(ended);
        if (call != call_of_.end()) endings_[seq] = calls_.at(call->second).names;
    }

    void expect_no_call_passed(CallTag tag) const {
        const auto& call = calls_.at(tag);
        for (const auto& [earlier, other] : calls_) {
            if (earlier >= tag) return;
            const bool is_held_back =
                other.upgrades.is_set() && (!other.seq.is_set() || other.seq > call.seq);
            if (!other.waits || is_held_back || !share_a_name(other.names, call.names)) continue;
            EXPECT_TRUE(there_.contains(other.seq))
                << describe(tag) << " passes " << describe(earlier);
        }
    }
    void expect_no_ending_passed(Seq seq) const {
        const auto tag = call_of_.at(seq);
        for (const auto& [ending, names] : endings_) {
            if (ending >= seq) return;
            if (!share_a_name(names, calls_.at(tag).names)) continue;
            EXPECT_TRUE(there_.contains(ending))
                << describe(tag) << " passes the ending of number " << ending.raw();
        }
    }
    [[nodiscard]] std::string describe(CallTag tag) const {
        const auto& call = calls_.at(tag);
        std::string text = call.upgrades.is_set() ? "upgrade " : "acquire ";
        text += std::to_string(tag.raw()) + " of";
        for (const auto& name : call.names)
            text += " " + name;
        if (call.seq.is_set()) text += ", number " + std::to_string(call.seq.raw());
        return text + (call.waits ? "" : ", given up");
    }

    std::map<CallTag, Call> calls_;
    std::map<Seq, CallTag> call_of_;
    std::map<Seq, Names> endings_;  // releases, cancels and downgrades that were sent
    std::map<Seq, Names> held_;     // including released ones
    std::set<Seq> there_;           // the requests that took effect
};

}  // namespace mortise::core::test
