// Whatever happens to the messages of an agent, and whatever its program does meanwhile: commands
// on a name take effect in the order in which they were issued (S20), a hold's owner never assumes
// more than the cluster granted (P3), no call is refused without a reason, and nothing is left over
// (S18).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "core/locks/lock_mode.hpp"
#include "tests/unit/core/agent/program_by_hand.hpp"

namespace mortise::core::test {
namespace {

// A program that makes random calls, over a network that loses, repeats and reorders messages.
class AnyProgram {
public:
    explicit AnyProgram(std::uint64_t seed) : prng_{seed} {}

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            do_anything();
            if (!prng_.one_in(4)) of_.step();  // or several events come in one step
        }
        if (!testing::Test::HasFailure()) end();
    }
    [[nodiscard]] std::size_t grants() const { return of_.grants(); }
    [[nodiscard]] std::size_t upgrades() const { return of_.upgrades(); }

private:
    using Hold = ProgramByHand::Hold;

    struct Act {
        std::uint64_t weight;
        void (AnyProgram::*perform)();
    };
    void do_anything() {
        static constexpr std::array acts{
            Act{18, &AnyProgram::acquire_one},      Act{12, &AnyProgram::acquire_several},
            Act{12, &AnyProgram::cancel_any},       Act{10, &AnyProgram::release_any},
            Act{12, &AnyProgram::downgrade_any},    Act{18, &AnyProgram::upgrade_any},
            Act{3, &AnyProgram::rival_acts},        Act{2, &AnyProgram::leader_changes},
            Act{3, &AnyProgram::second_passes},     Act{2, &AnyProgram::leader_declines},
            Act{1, &AnyProgram::state_is_replaced}, Act{3, &AnyProgram::message_is_lost},
            Act{45, &AnyProgram::message_arrives},
        };
        std::uint64_t sum = 0;
        for (const auto& act : acts)
            sum += act.weight;
        auto chosen = prng_.below(sum);
        for (const auto& [weight, perform] : acts) {
            if (chosen < weight) return (this->*perform)();
            chosen -= weight;
        }
    }
    // From here on nothing is lost. Every waiting call is granted, or gives up.
    void end() {
        of_.cluster.under_way.clear();
        of_.cluster.rival_leaves();
        of_.let_pass(9);  // nearly as long as a call waits for being sent
        of_.expect_all_sent();
        of_.let_pass(12);
        for (int i = 0; i < 20; ++i) {
            of_.release_all();
            of_.let_pass(1);
        }
        of_.cancel_all();
        for (int i = 0; i < 5; ++i) {
            of_.let_pass(1);
            of_.release_all();
        }
        of_.deliver_all();
        of_.expect_nothing_is_left(names_);
    }

    // --- calls of the program

    void acquire_one() {
        if (has_enough()) return;
        Acquire request;
        request.names.push_back({any_name(), any_mode()});
        request.wait = !prng_.one_in(3);
        const bool has_deadline = prng_.one_in(3);
        of_.acquire(std::move(request),
                    has_deadline ? of_.cluster.now.steady + 1500ms : Instant::never());
    }
    void acquire_several() {
        if (has_enough()) return;
        Acquire request;
        request.which = Acquire::Which::all;
        const auto mode = any_mode();
        const auto left_out = prng_.below(names_.size() + 1);  // the last value: none
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (i != left_out) request.names.push_back({names_[i], mode});
        }
        if (prng_.one_in(3)) request.which = Acquire::Which::any;
        request.wait = !prng_.one_in(3);
        of_.acquire(std::move(request));
    }
    void cancel_any() {
        const auto waiting = of_.waiting();
        if (!waiting.empty()) of_.cancel(waiting[prng_.below(waiting.size())]);
    }
    void release_any() {
        const auto holds = ids([](const Hold&) { return true; });
        if (holds.empty() || (is_modest_ && !prng_.one_in(3))) return;
        of_.release(any(holds), prng_.one_in(2));
    }
    void downgrade_any() {
        const auto mode = any_mode();
        const auto holds = ids([&](const Hold& hold) {
            return hold.names.size() == 1 && !hold.upgrade.is_set() && covers(hold.mode, mode);
        });
        if (!holds.empty()) of_.downgrade(any(holds), mode);
    }
    // It may give up the waiting upgrade, and try once more.
    void upgrade_any() {
        const auto holds = ids(is_upgradable);
        if (holds.empty()) return;
        const auto id = any(holds);
        const auto& hold = of_.holds().at(id);
        if (hold.upgrade.is_set()) of_.step();  // so that it learns its mode
        if (!is_upgradable(hold)) return;
        of_.cancel(hold.upgrade);
        of_.upgrade(id, !prng_.one_in(3));
    }

    // --- events

    void rival_acts() {
        auto& cluster = of_.cluster;
        if (is_modest_ || prng_.one_in(2)) return cluster.rival_releases_newest();
        cluster.rival_takes(any_name(), any_mode());
    }
    void leader_changes() { of_.cluster.agent.on_leader(true, of_.cluster.now); }
    void second_passes() { of_.cluster.pass(1s); }
    void leader_declines() {
        const auto& under_way = of_.cluster.under_way;
        if (under_way.empty()) return;
        const auto at = prng_.below(under_way.size());
        const auto message = under_way[at];
        of_.lose(at);
        of_.arrive(ClusterByHand::declined(message));
    }
    // Some requests were applied whose outcomes the agent never receives.
    void state_is_replaced() {
        const auto& under_way = of_.cluster.under_way;
        for (auto count = under_way.empty() ? 0 : prng_.below(4); count > 0; --count)
            of_.arrive(under_way[prng_.below(under_way.size())], false);
        of_.cluster.replace_state();
    }
    void message_is_lost() {
        const auto count = of_.cluster.under_way.size();
        if (count > 0) of_.lose(prng_.below(count));
    }
    // Mostly in order, because hardly anything would take effect otherwise. A copy may stay in
    // transit.
    void message_arrives() {
        const auto& under_way = of_.cluster.under_way;
        if (under_way.empty()) return;
        const auto at = prng_.one_in(3) ? prng_.below(under_way.size()) : 0;
        const auto message = under_way[at];
        if (!prng_.one_in(4)) of_.lose(at);
        of_.arrive(message);
    }

    // --- random choices

    static bool is_upgradable(const Hold& hold) {
        const bool is_legal = hold.mode == LockMode::shared || hold.mode == LockMode::update;
        return hold.names.size() == 1 && is_legal;
    }
    bool has_enough() {
        if (!is_modest_ || prng_.one_in(10)) return false;
        return !of_.holds().empty() || !of_.waiting().empty();
    }
    template <class Predicate>
    std::vector<OperationId> ids(const Predicate& is_wanted) const {
        std::vector<OperationId> found;
        for (const auto& [id, hold] : of_.holds()) {
            if (is_wanted(hold)) found.push_back(id);
        }
        return found;
    }
    OperationId any(const std::vector<OperationId>& holds) {
        return holds[prng_.below(holds.size())];
    }
    std::string any_name() { return names_[prng_.below(names_.size())]; }
    LockMode any_mode() {
        static constexpr std::array modes{LockMode::shared, LockMode::update, LockMode::exclusive,
                                          LockMode::shared, LockMode::intent_shared};
        return modes.at(prng_.below(modes.size()));
    }

    const ProgramByHand::Names names_{"a", "b", "c"};
    Prng prng_;
    // Makes hardly more than one call at a time, so that there are holds to convert without
    // waiters.
    const bool is_modest_ = prng_.one_in(2);
    ProgramByHand of_;
};

TEST(AgentAnyOrder, NoCommandOvertakesAnotherOnItsName) {  // S20, P3, S18, P6
    constexpr std::uint64_t seeds = 300;
    constexpr int steps = 300;
    std::size_t grants = 0;
    std::size_t upgrades = 0;
    for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        AnyProgram program{seed};
        EXPECT_NO_THROW(program.run(steps));
        grants += program.grants();
        upgrades += program.upgrades();
    }
    if (HasFailure()) return;
    EXPECT_GT(grants, 5 * seeds);
    EXPECT_GT(upgrades, seeds / 5);
}

}  // namespace
}  // namespace mortise::core::test
