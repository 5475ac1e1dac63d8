// S20, S27, P3: one session's calls on a few names, with the cluster's state machine. Whatever is
// lost, late, twice, refused or given up: what is asked on a name takes effect in that order, no
// hold is believed to have more than it has, and in the end nothing is left.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "core/locks/lock_machine.hpp"
#include "core/locks/lock_mode.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

using Commands = std::vector<Command>;
using NameSet = std::set<std::string>;

const std::vector<std::string> all_names{"a", "b", "c"};
const std::vector<LockMode> modes{LockMode::shared, LockMode::shared, LockMode::intent_shared,
                                  LockMode::update, LockMode::exclusive};

bool share_a_name(const NameSet& one, const NameSet& other) {
    return std::ranges::any_of(one, [&](const auto& name) { return other.contains(name); });
}

struct Asked {  // a call, until the end of the run
    NameSet names;
    LockMode mode = LockMode::exclusive;
    OperationId upgrades;  // the hold
    bool waits = true;     // for its answer
    bool took_effect = false;
};

struct Believed {
    NameSet names;
    LockMode mode = LockMode::exclusive;
    bool is_upgrading = false;
};

struct Flight {
    Commands commands;
    bool has_calls = false;
};

class AnyOrder {
public:
    explicit AnyOrder(std::uint64_t seed) : prng_{seed} {
        agent_.on_leader(true, now_);
        agent_.on_format(command_format_newest);
        send_and_apply_all();
        OpenSession opening;
        opening.nonce = 77;
        opening.node = NodeId{2};
        opening.incarnation = Incarnation{10};
        opening.boot_epoch = BootEpoch{1};
        for (const auto& outcome : applied(opening)) {
            if (const auto* opened = std::get_if<SessionOpened>(&outcome)) other_ = opened->session;
        }
    }

    void step() {
        switch (prng_.below(24)) {
            case 0:
            case 1:
            case 2: ask(); break;
            case 3:
            case 4: ask_for_several(); break;
            case 5:
            case 6:
            case 7: cancel_one(); break;
            case 8:
            case 9: release_one(); break;
            case 10: downgrade_one(); break;
            case 11:
            case 12: upgrade_one(); break;
            case 13: somebody_else(); break;
            case 14: sometimes(3, [&] { agent_.on_leader(true, now_); }); break;
            case 15: sometimes(2, [&] { pass(std::chrono::seconds{1}); }); break;
            case 16: sometimes(3, [&] { refuse_one(); }); break;
            case 17: sometimes(6, [&] { replace_state(); }); break;
            case 18: sometimes(2, [&] { (void)take_flight(); }); break;  // lost
            default: apply_one();
        }
        if (prng_.below(4) != 0) send();
    }

    // Nothing gets lost any more, and nobody else holds anything.
    void finish() {
        while (!others_.empty())
            release_of_others();
        for (int i = 0; i < 12; ++i)
            go_on();
        for (const auto& [tag, call] : calls_)
            EXPECT_TRUE(!call.waits || seq_of_.contains(tag)) << tag.raw() << " was never sent";
        for (int i = 0; i < 25; ++i) {
            release_all();
            go_on();
        }
        for (const auto tag : waiting())
            agent_.on_cancel({tag}, now_);
        for (int i = 0; i < 5; ++i) {
            go_on();
            release_all();
        }
        go_on();
        EXPECT_EQ(agent_.outstanding(), 0U);
        for (const auto& name : all_names)
            EXPECT_TRUE(machine_.inspect(name).holders.empty()) << "left on " << name;
    }
    [[nodiscard]] std::size_t granted() const { return granted_; }

private:
    static AgentOptions options() {
        auto options = Agent::options();
        options.ttl_ms = 24 * 3'600'000;
        return options;
    }

    // --- what the program does

    template <class Do>
    void sometimes(std::uint64_t one_in, const Do& something) {
        if (prng_.below(one_in) == 0) something();
    }
    template <class List>
    auto any_of(List& list) {
        return std::next(list.begin(), static_cast<std::ptrdiff_t>(prng_.below(list.size())));
    }
    CallTag next_call(NameSet names, LockMode mode) {
        calls_[CallTag{++tag_}] = {std::move(names), mode, {}, true, false};
        return CallTag{tag_};
    }
    void ask() {
        AcquireCall call;
        call.request.name = *any_of(all_names);
        call.request.mode = *any_of(modes);
        call.request.wait = prng_.below(3) != 0;
        const bool in_time = prng_.below(3) != 0;
        if (!in_time) call.deadline = now_.steady + std::chrono::milliseconds{1'500};
        call.tag = next_call({call.request.name}, call.request.mode);
        call.request.label = std::to_string(tag_);
        agent_.on_acquire(std::move(call), now_);
    }
    void ask_for_several() {
        AcquireSeveralCall call;
        const auto mode = *any_of(modes);
        const auto without = prng_.below(all_names.size() + 1);
        NameSet names;
        for (std::size_t i = 0; i < all_names.size(); ++i) {
            if (i == without) continue;
            names.insert(all_names[i]);
            call.request.names.push_back({all_names[i], mode});
        }
        using Which = AcquireSeveral::Which;
        call.request.which = prng_.below(3) != 0 ? Which::all : Which::any;
        call.request.wait = prng_.below(3) != 0;
        call.tag = next_call(std::move(names), mode);
        call.request.label = std::to_string(tag_);
        agent_.on_acquire(std::move(call), now_);
    }
    [[nodiscard]] std::vector<CallTag> waiting() const {
        std::vector<CallTag> tags;
        for (const auto& [tag, call] : calls_)
            if (call.waits) tags.push_back(tag);
        return tags;
    }
    void cancel_one() {
        const auto tags = waiting();
        if (!tags.empty()) agent_.on_cancel({*any_of(tags)}, now_);
    }
    void release_one() {
        if (holds_.empty()) return;
        const auto hold = any_of(holds_);
        const auto id = hold->first;
        holds_.erase(hold);
        agent_.on_release({CallTag{prng_.below(2) == 0 ? 0 : ++tag_}, id}, now_);
    }
    void release_all() {
        while (!holds_.empty())
            release_one();
    }
    // Of one name; null when it is on its way up.
    std::pair<const OperationId, Believed>* any_that_converts() {
        if (holds_.empty()) return nullptr;
        auto& hold = *any_of(holds_);
        const bool converts = hold.second.names.size() == 1 && !hold.second.is_upgrading;
        return converts ? &hold : nullptr;
    }
    // From here on its owner believes no more than that.
    void downgrade_one() {
        auto* hold = any_that_converts();
        const auto mode = *any_of(modes);
        if (hold == nullptr || !covers(hold->second.mode, mode)) return;
        hold->second.mode = mode;
        downgrades_.insert(CallTag{++tag_});
        agent_.on_downgrade({CallTag{tag_}, hold->first, mode}, now_);
    }
    void upgrade_one() {
        auto* hold = any_that_converts();
        if (hold == nullptr) return;
        const auto mode = hold->second.mode;
        if (mode != LockMode::shared && mode != LockMode::update) return;
        hold->second.is_upgrading = true;
        const auto tag = next_call(hold->second.names, LockMode::exclusive);
        calls_.at(tag).upgrades = hold->first;
        const bool waits = prng_.below(3) != 0;
        agent_.on_upgrade({tag, hold->first, waits, Instant::never()}, now_);
    }
    void somebody_else() {
        if (!others_.empty() && prng_.below(2) == 0) return release_of_others();
        Acquire acquire;
        acquire.name = *any_of(all_names);
        acquire.mode = *any_of(modes);
        acquire.wait = false;
        others_.push_back(Seq{++others_seq_});
        tell(applied(Request{other_, others_.back(), {}, std::move(acquire)}));
    }
    void release_of_others() {
        const auto hold = others_.back();
        others_.pop_back();
        tell(applied(Request{other_, Seq{++others_seq_}, {}, Release{hold}}));
    }

    // --- what becomes of its messages

    void send() {
        auto output = agent_.collect(now_);
        agent_.check_invariants();
        EXPECT_TRUE(output.lost.empty());
        const auto outbound = std::move(output.outbound).value_or(Outbound{});
        for (const auto* lane : {&outbound.urgent, &outbound.acquires}) {
            auto commands = decode_batch(*lane).value_or(Commands{});
            learn(commands);
            const bool has_calls = lane == &outbound.acquires;
            if (!commands.empty()) flights_.push_back({std::move(commands), has_calls});
        }
        for (const auto& answer : output.answers)
            take(answer);
        check_beliefs();
    }
    Flight take_flight() {
        if (flights_.empty()) return {};
        const auto at = any_of(flights_);
        auto flight = std::move(*at);
        flights_.erase(at);
        return flight;
    }
    void apply_one() {
        if (flights_.empty()) return;
        const bool comes_again = prng_.below(4) == 0;
        const auto flight = comes_again ? *any_of(flights_) : take_flight();
        apply(flight.commands, true);
    }
    void refuse_one() {
        if (flights_.empty() || !any_of(flights_)->has_calls) return;
        const auto at = std::ranges::find_if(flights_, &Flight::has_calls);
        Seq first;
        Seq last;
        for (const auto& command : at->commands) {
            const auto* request = std::get_if<Request>(&command);
            if (request == nullptr || ends_something(request->body)) continue;
            if (!first.is_set()) first = request->seq;
            last = request->seq;
        }
        flights_.erase(at);
        agent_.on_too_busy(session_, first, last);
    }
    void replace_state() {
        for (auto count = prng_.below(4); count > 0; --count)
            apply(take_flight().commands, false);
        agent_.on_state_replaced(machine_.sessions(), now_);
    }
    Outcomes applied(Command command) {
        Outcomes outcomes;
        machine_.apply(LogIndex{++index_}, {std::move(command)}, outcomes);
        return outcomes;
    }
    void tell(const Outcomes& outcomes) {
        agent_.on_progress(now_);
        for (const auto& outcome : outcomes) {
            agent_.on_outcome(outcome, LogIndex{index_}, now_);
            const auto* opened = std::get_if<SessionOpened>(&outcome);
            if (opened != nullptr && !session_.is_set()) session_ = opened->session;
        }
    }
    void apply(const Commands& commands, bool told) {
        for (const auto& command : commands) {
            const auto* request = std::get_if<Request>(&command);
            const bool is_new = request != nullptr && !is_there(request->seq);
            const auto outcomes = applied(command);
            if (told) tell(outcomes);
            if (is_new && is_there(request->seq)) check_order(request->seq);
        }
    }
    void send_and_apply_all() {
        for (send(); !flights_.empty(); send()) {
            for (const auto& flight : std::exchange(flights_, {}))
                apply(flight.commands, true);
        }
    }
    void go_on() {
        send_and_apply_all();
        pass(std::chrono::seconds{1});
    }
    void pass(Nanoseconds time) {
        now_ = {now_.steady + time, now_.boot + time};
        agent_.begin(now_);
        agent_.on_timer(now_);
    }

    // --- what is known of it

    [[nodiscard]] bool is_there(Seq seq) const {
        return machine_.sessions().find(session_)->seen.contains(seq);
    }
    void learn(const Commands& commands) {
        for (const auto& command : commands) {
            const auto* request = std::get_if<Request>(&command);
            if (request == nullptr || sent_.contains(request->seq)) continue;
            sent_.insert(request->seq);
            if (ends_something(request->body)) {
                endings_[request->seq] = names_of_.at(target_of(request->body));
            } else {
                const auto tag = tag_of(request->body);
                call_of_[request->seq] = tag;
                seq_of_[tag] = request->seq;
                names_of_[request->seq] = calls_.at(tag).names;
            }
        }
    }
    [[nodiscard]] static Seq target_of(const RequestBody& body) {
        if (const auto* release = std::get_if<Release>(&body)) return release->operation;
        if (const auto* cancel = std::get_if<Cancel>(&body)) return cancel->operation;
        return std::get<Downgrade>(body).operation;
    }
    [[nodiscard]] CallTag tag_of(const RequestBody& body) const {
        if (const auto* one = std::get_if<Acquire>(&body)) return CallTag{std::stoull(one->label)};
        if (const auto* several = std::get_if<AcquireSeveral>(&body))
            return CallTag{std::stoull(several->label)};
        const auto hold = std::get<Upgrade>(body).operation;
        const auto call = std::ranges::find_if(calls_, [&](const auto& entry) {
            const auto& [tag, asked] = entry;
            return asked.waits && asked.upgrades.seq == hold && !seq_of_.contains(tag);
        });
        EXPECT_NE(call, calls_.end()) << "nobody upgrades that";
        return call->first;
    }
    // The calls before it on its names are there, and if it is still asked for, also what ended.
    void check_order(Seq seq) {
        const auto found = call_of_.find(seq);
        if (found == call_of_.end()) return;
        auto& call = calls_.at(found->second);
        call.took_effect = true;
        for (const auto& [tag, before] : calls_) {
            if (tag >= found->second) break;
            const bool comes_before = before.waits && share_a_name(before.names, call.names);
            EXPECT_TRUE(!comes_before || before.took_effect)
                << "call " << found->second.raw() << " passed " << tag.raw();
        }
        for (const auto& [ending, names] : endings_) {
            const bool comes_before = ending < seq && share_a_name(names, call.names);
            EXPECT_TRUE(!comes_before || !call.waits || is_there(ending))
                << "call " << found->second.raw() << " passed ending " << ending.raw();
        }
    }
    void check_beliefs() const {
        for (const auto& [id, hold] : holds_) {
            for (const auto& name : hold.names) {
                const auto holders = machine_.inspect(name).holders;
                const auto own = std::ranges::find(holders, id, &Grant::operation);
                EXPECT_TRUE(own != holders.end() && covers(own->mode, hold.mode))
                    << "hold " << id.seq.raw() << " on " << name;
            }
        }
    }
    void take(const CallAnswer& answer) {
        const bool is_refused = std::holds_alternative<CallError>(answer.result) &&
                                std::get<CallError>(answer.result) == CallError::invalid_argument;
        EXPECT_FALSE(is_refused && downgrades_.contains(answer.tag)) << "a downgrade was refused";
        const auto found = calls_.find(answer.tag);
        if (found == calls_.end()) return;
        auto& call = found->second;
        call.waits = false;
        if (const auto hold = holds_.find(call.upgrades); hold != holds_.end()) {
            hold->second.is_upgrading = false;
            if (std::holds_alternative<Converted>(answer.result))
                hold->second.mode = LockMode::exclusive;
        }
        if (const auto* one = std::get_if<Acquired>(&answer.result)) believe(one->hold, call.mode);
        if (const auto* several = std::get_if<AcquiredSeveral>(&answer.result))
            believe(several->hold, call.mode);
    }
    void believe(OperationId hold, LockMode mode) {
        ++granted_;
        const auto* names = agent_.names_of(hold);
        ASSERT_NE(names, nullptr);
        holds_[hold] = {NameSet(names->begin(), names->end()), mode, false};
        names_of_[hold.seq] = holds_.at(hold).names;
    }

    Prng prng_;
    Now now_{Instant{1'000'000'000}, Instant{1'000'000'000}};
    SessionAgent agent_{options(), Prng{1}, now_};
    LockMachine machine_;
    std::uint64_t index_ = 0;
    SessionId session_;
    SessionId other_;
    std::uint64_t others_seq_ = 0;
    std::vector<Seq> others_;  // held by the other, some
    std::uint64_t tag_ = 0;
    std::map<CallTag, Asked> calls_;
    std::set<CallTag> downgrades_;
    std::map<OperationId, Believed> holds_;
    std::vector<Flight> flights_;
    std::set<Seq> sent_;
    std::map<Seq, CallTag> call_of_;
    std::map<CallTag, Seq> seq_of_;
    std::map<Seq, NameSet> names_of_;  // of operations
    std::map<Seq, NameSet> endings_;
    std::size_t granted_ = 0;
};

TEST(AgentAnyOrder, NothingPassesWhatWasAskedBefore) {
    std::size_t granted = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        AnyOrder run{seed};
        for (int i = 0; i < 300; ++i)
            run.step();
        run.finish();
        granted += run.granted();
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(granted, 3'000U);
}

}  // namespace
}  // namespace mortise::core::test
