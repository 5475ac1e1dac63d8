// Every command is delivered again: twice in a row, after its answer was received, after others got
// the name, behind a Cancel of it, behind a gap, and after the end of its session; and all of these
// also to a new leader, which has loaded the state from rows. It has no second effect (P4, S17). It
// is also delivered ahead of a missing request, and for the first time after the end of its
// session: then it has no effect at all.
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <variant>

#include "core/locks/machine/machine_loader.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

enum class Way : std::uint8_t {
    twice,
    received,            // its answer was, so nobody keeps it
    late,                // what it was about is somebody else's, or has changed
    only_late,           // the first time
    cancelled,           // by a Cancel that came after it
    behind_a_gap,        // later ones came ahead of one that is missing
    ahead,               // the first time, and of one that is missing
    after_the_end,       // of its session
    only_after_the_end,  // the first time
};

constexpr auto all_ways = std::to_array<std::pair<Way, const char*>>({
    {Way::twice, "Twice"},
    {Way::received, "AfterItsAnswer"},
    {Way::late, "Late"},
    {Way::only_late, "OnlyLate"},
    {Way::cancelled, "AfterItsCancel"},
    {Way::behind_a_gap, "BehindAGap"},
    {Way::ahead, "AheadOfAMissingOne"},
    {Way::after_the_end, "AfterTheEnd"},
    {Way::only_after_the_end, "OnlyAfterTheEnd"},
});

// Session 1 sends the command; a request always has number 5. Each command is an entry, and those
// before it begin at index 4. The missing requests of the stream end nothing (see come()).
struct Delivery {
    const char* name;
    std::vector<Command> before;
    Command command;
    std::vector<Command> newer;      // a repeat that took effect would change the outcomes of these
    std::map<Way, Outcomes> told{};  // for a command without a kept answer; none if not given
};

// True if the command cannot be delivered in that way.
bool is_left_out(const Delivery& delivery, Way way) {
    const auto& command = delivery.command;
    const bool is_request = std::holds_alternative<Request>(command);
    const bool opens = std::holds_alternative<OpenSession>(command);
    const bool expires = std::holds_alternative<Expire>(command);
    const bool is_nobodys = std::holds_alternative<Sweep>(command) ||
                            std::holds_alternative<Clock>(command) ||
                            std::holds_alternative<RaiseCeiling>(command);
    switch (way) {
        case Way::twice:
        case Way::late: return false;
        // The other commands take effect on the state at their delivery.
        case Way::only_late: return !opens && !expires && !std::holds_alternative<Renew>(command);
        // Only requests are parts of a stream, can be cancelled, and have an answer that is kept.
        case Way::received:
        case Way::cancelled:
        case Way::behind_a_gap:
        case Way::ahead: return !is_request;
        // A repeated opening is recognized only while its session lives. After that it opens
        // another session, which has no names and expires unless it is renewed. A Sweep, which
        // removes what ended sessions left, a Clock and a RaiseCeiling belong to no session.
        case Way::after_the_end: return opens || is_nobodys;
        // The time of a closure may outlast the session.
        case Way::only_after_the_end:
            return opens || is_nobodys || std::holds_alternative<EndClosure>(command);
    }
    return true;
}

struct Cell {
    Delivery delivery;
    Way way = Way::twice;
    bool has_new_leader = false;
    std::string name;
};
void PrintTo(const Cell& cell, std::ostream* out) {
    *out << cell.name;
}

class LockMachineDeliveries : public LockMachineTest, public testing::WithParamInterface<Cell> {
public:
    static std::vector<Delivery> all() {
        auto rows = of_sessions();
        for (auto&& more : {ends_of_closures(), requests(), conversions(), several(), of_names(),
                            of_semaphores(), of_latches(), of_barriers()})
            rows.insert(rows.end(), more.begin(), more.end());
        return rows;
    }

    static std::vector<Cell> cells() {
        std::vector<Cell> cells;
        for (const auto& delivery : all()) {
            for (const auto& [way, name] : all_ways) {
                if (is_left_out(delivery, way)) continue;
                const auto whole = std::string{delivery.name} + name;
                cells.push_back({delivery, way, false, whole});
                cells.push_back({delivery, way, true, whole + "AtANewLeader"});
            }
        }
        return cells;
    }

protected:
    static constexpr std::uint64_t asked = 5;  // the request that is delivered again

    // Applies all that comes before the delivery to be tested.
    void come_to(const Delivery& delivery, Way way) {
        for (const auto& command : delivery.before)
            come(command);
        const bool comes =
            way != Way::only_late && way != Way::ahead && way != Way::only_after_the_end;
        if (comes) come(delivery.command);
        switch (way) {
            case Way::twice: break;
            case Way::received: take(Acknowledge{SessionId{1}, index_}); break;
            case Way::late:
            case Way::only_late:
                for (const auto& command : delivery.newer)
                    come(command);
                break;
            case Way::cancelled: come(cancel(1, 6, asked)); break;
            case Way::behind_a_gap:
                take(acquire(1, 7, exclusive, "c"));
                take(acquire(1, 8, exclusive, "c"));
                break;
            case Way::ahead: fill_up_to(SessionId{1}, Seq{asked - 2}); break;
            case Way::after_the_end:
            case Way::only_after_the_end:
                come(close(1));
                while (machine_.needs_sweep())
                    take(Sweep{});
                break;
        }
    }

    // Applies the command at its place in the stream: the requests before it that are not in the
    // delivery are releases of holds that do not exist.
    void come(const Command& command) {
        const auto* other = std::get_if<Request>(&command);
        if (other != nullptr) fill_up_to(other->session, other->seq.previous());
        take(command);
    }
    void fill_up_to(SessionId session, Seq last) {
        const auto* open = machine_.sessions().find(session);
        while (open != nullptr && open->applied < last)
            take(request(session.raw(), open->applied.next().raw(), Release{Seq{1'000}}));
    }

    Outcomes take(const Command& command) {
        index_ = index_.next();
        Outcomes outcomes;
        machine_.apply(index_, {command}, outcomes);
        machine_.check_invariants();
        for (const auto& outcome : outcomes) {
            const auto* answered = std::get_if<Answered>(&outcome);
            if (answered != nullptr)
                answers_.insert_or_assign(answered->operation, answered->answer);
        }
        return outcomes;
    }

    // Has loaded the rows of the machine before it, and nothing else.
    void elect_another() {
        MachineLoader loader;
        for (const auto& row : machine_.take_changed_rows()) {
            const bool taken = !row.value || loader.add(row.key, *row.value);
            ASSERT_TRUE(taken) << row.key;
        }
        auto loaded = loader.finish(index_);
        ASSERT_TRUE(loaded.has_value());
        machine_ = std::move(*loaded);
    }

    [[nodiscard]] Outcomes expected(const Delivery& delivery, Way way) const {
        const auto* again = std::get_if<Request>(&delivery.command);
        if (again == nullptr) {
            const auto told = delivery.told.find(way);
            return told == delivery.told.end() ? Outcomes{} : told->second;
        }
        if (machine_.sessions().find(again->session) == nullptr || way == Way::ahead) return {};
        const OperationId id{again->session, again->seq};
        const auto answer = answers_.find(id);
        if (answer == answers_.end()) return {Queued{id}};
        if (way == Way::received) return {Answered{id, {AnswerKind::stale_request, {}, {}}}};
        return {Answered{id, answer->second}};
    }

    // --- the commands ---------------------------------------------------------------------------

    static Command asks(RequestBody body) { return request(1, asked, std::move(body)); }
    static Command on_terms(std::uint64_t session, std::uint64_t seq, HoldTerms terms,
                            const std::string& name = "a") {
        return request(session, seq,
                       Acquire{{{name, exclusive}}, true, {}, false, {}, 0, {}, terms});
    }
    static Command renew(std::uint64_t number) { return Renew{{{SessionId{1}, number}}}; }
    static Command end_closure(std::uint64_t id) { return EndClosure{ClosureId{id}}; }
    static Command break_lock(std::uint64_t session, std::uint64_t seq, bool immediate = false) {
        return request(session, seq, BreakLock{"a", FencingToken{1}, "stuck", immediate});
    }
    static Command lost(std::uint64_t session, std::uint64_t seq, std::uint64_t operation) {
        return request(session, seq, Release{Seq{operation}, true});
    }
    static Command upgrade(std::uint64_t seq) { return request(1, seq, Upgrade{Seq{1}}); }
    static Command downgrade(std::uint64_t seq) {
        return request(1, seq, Downgrade{Seq{1}, shared});
    }
    static Command value(std::uint64_t session, std::uint64_t seq, const std::string& bytes) {
        return request(session, seq, SetValue{Seq{1}, "a", bytes});
    }
    static Acquire both(Acquire::Which which) {
        return {{{"a", exclusive}, {"b", exclusive}}, true, {}, false, {}, 0, {}, {}, which};
    }

    static std::vector<Delivery> of_sessions() {
        const auto mine = acquire(1, 1, exclusive);
        const auto another = acquire(2, 1, exclusive);
        const auto open = opening(4);
        auto later_life = opening(4, 2);
        later_life.former_life_ended = true;
        const HoldTerms bounded{1'000, 0, 0};
        const Outcomes gone{RenewalLost{SessionId{1}}};
        const Outcomes refused{OpenRefused{open.nonce, OpenRefusal::epoch_not_newer}};
        return {
            {"OpenSession",
             {},
             open,
             {later_life},
             {{Way::twice, {SessionOpened{SessionId{4}, open.nonce}}},
              {Way::late, refused},
              {Way::only_late, refused}}},
            {"Renew",
             {},
             renew(1),
             {renew(2)},
             {{Way::after_the_end, gone}, {Way::only_after_the_end, gone}}},
            {"Expire", {mine}, Expire{SessionId{1}, LogIndex{1}}, {renew(1), another}},
            {"Sweep", {mine, request(1, 2, CloseSession{})}, Sweep{}, {another}},
            {"Clock", {mine}, Clock{5'000}, {another}},
            {"RaiseCeiling", {mine}, RaiseCeiling{FencingToken{9}}, {another}},
            {"Acknowledge", {mine}, Acknowledge{SessionId{1}, LogIndex{4}}, {release(1, 7, 1)}},
            {"AcknowledgeOfAMaxHold",
             {on_terms(1, 1, bounded)},
             Acknowledge{SessionId{1}, LogIndex{4}},
             {on_terms(1, 7, bounded, "b")}},
        };
    }

    // The first hold with time limits has closure 1 for its min_hold, 2 for max_hold, 3 for
    // lock_delay.
    static std::vector<Delivery> ends_of_closures() {
        const HoldTerms kept{0, 1'000, 0};
        return {
            {"EndClosureOfABreak",
             {acquire(1, 1, exclusive), acquire(2, 1, exclusive), break_lock(3, 1)},
             end_closure(1),
             {release(2, 2, 1)}},
            {"EndClosureOfAMinHold",
             {on_terms(1, 1, kept)},
             end_closure(1),
             {release(1, 7, 1), on_terms(2, 1, kept)}},
            {"EndClosureOfAMaxHold",
             {on_terms(1, 1, {1'000, 0, 0}), Acknowledge{SessionId{1}, LogIndex{4}}},
             end_closure(2),
             {acquire(2, 1, exclusive)}},
            {"EndClosureOfALockDelay",
             {on_terms(1, 1, {0, 0, 500}), lost(1, 2, 1)},
             end_closure(3),
             {acquire(2, 1, exclusive)}},
        };
    }

    static std::vector<Delivery> requests() {
        const auto mine = acquire(1, 1, exclusive);
        const auto another = acquire(2, 1, exclusive);
        const auto next_of_mine = acquire(1, 7, exclusive);
        const Acquire asking{{{"a", exclusive}}, true, {}, false, {}};
        const Acquire once{{{"a", exclusive}}, false, {}, false, {}};
        return {
            {"Acquire", {}, asks(asking), {release(1, 7, asked), another}},
            {"AcquireThatWaits",
             {another},
             asks(asking),
             {release(2, 2, 1), release(1, 7, asked), acquire(3, 1, exclusive)}},
            {"AcquireThatMeetsOthers", {another}, asks(once), {release(2, 2, 1)}},
            {"Release", {mine}, asks(Release{Seq{1}}), {next_of_mine}},
            {"ReleaseOfWhatWasBroken",
             {mine, break_lock(3, 1)},
             asks(Release{Seq{1}}),
             {next_of_mine}},
            {"Cancel", {mine}, asks(Cancel{Seq{1}}), {next_of_mine}},
            {"CancelOfWhoWaits", {another, mine}, asks(Cancel{Seq{1}}), {next_of_mine}},
            {"CancelOfWhatIsYetToCome", {}, asks(Cancel{Seq{7}}), {next_of_mine}},
            {"Declined", {mine}, asks(Declined{}), {release(1, 7, 1), another}},
            {"CloseSession", {mine}, asks(CloseSession{}), {another}},
        };
    }

    static std::vector<Delivery> conversions() {
        const auto reader = acquire(2, 1, shared);
        return {
            {"Downgrade",
             {acquire(1, 1, exclusive)},
             asks(Downgrade{Seq{1}, shared}),
             {upgrade(7)}},
            {"Upgrade", {acquire(1, 1, shared)}, asks(Upgrade{Seq{1}}), {downgrade(7)}},
            {"UpgradeThatWaits",
             {acquire(1, 1, update), reader},
             asks(Upgrade{Seq{1}}),
             {release(2, 2, 1), downgrade(7)}},
            {"UpgradeThatMeetsOthers",
             {acquire(1, 1, shared), reader},
             asks(Upgrade{Seq{1}, false}),
             {release(2, 2, 1)}},
        };
    }

    static std::vector<Delivery> several() {
        using enum Acquire::Which;
        const auto has_a = acquire(2, 1, exclusive);
        const auto has_b = acquire(2, 2, exclusive, "b");
        const auto gives_back = release(1, 7, asked);
        return {
            {"All", {}, asks(both(all)), {gives_back, has_a}},
            {"AllThatWait", {has_b}, asks(both(all)), {release(2, 3, 2), gives_back}},
            {"Any", {has_a}, asks(both(any)), {gives_back}},
            {"AnyThatWaits", {has_a, has_b}, asks(both(any)), {release(2, 3, 2), gives_back}},
        };
    }

    static std::vector<Delivery> of_names() {
        const auto mine = acquire(1, 1, exclusive);
        const auto another = acquire(2, 1, exclusive);
        const auto next = acquire(3, 1, exclusive);
        return {
            {"SetValue", {mine}, asks(SetValue{Seq{1}, "a", "one"}), {value(1, 7, "two")}},
            {"MarkConsistent",
             {another, value(2, 2, "half"), lost(2, 3, 1), mine},
             asks(MarkConsistent{Seq{1}, "a"}),
             {lost(1, 7, 1), acquire(1, 8, exclusive)}},
            {"BreakLock", {another}, break_lock(1, asked), {release(2, 2, 1), next}},
            {"BreakLockAtOnce", {another}, break_lock(1, asked, true), {next}},
            {"Publish",
             {cached(1, 1, 8)},
             asks(Publish{Seq{1}, FencingToken{3}, {7, {}}, "mine"}),
             {release(1, 7, 1), cached(1, 8, 8)}},
            {"EvictSession", {another}, asks(EvictSession{SessionId{2}, "stuck"}), {next}},
            {"AskRelease", {another}, asks(AskRelease{"a", "please"}), {release(2, 2, 1), next}},
        };
    }

    static std::vector<Delivery> of_semaphores() {
        const auto resize = [](std::uint32_t limit) { return Resize{"a", limit, 0}; };
        return {
            {"AcquireOfPermits",
             {permits(2, 1, 1)},
             asks(some_permits(2)),
             {release(1, 7, asked), permits(3, 1, 2)}},
            {"AcquireOfPermitsThatWaits",
             {permits(2, 1, 2)},
             asks(some_permits(2)),
             {release(2, 2, 1), release(1, 7, asked), permits(3, 1, 2)}},
            {"Resize", {permits(2, 1, 1)}, asks(resize(5)), {request(2, 2, resize(4))}},
            {"Remove", {request(2, 1, resize(5))}, asks(Remove{"a"}), {request(2, 2, resize(4))}},
        };
    }

    static std::vector<Delivery> of_latches() {
        const CountDown count{"a", 3, 1};
        const AwaitLatch wait{"a", 1, {}};
        return {
            {"CountDown", {request(2, 1, count)}, asks(count), {request(2, 2, count)}},
            {"AwaitLatch", {}, asks(wait), {request(2, 1, count)}},
            {"AwaitLatchThatPasses",
             {request(2, 1, AwaitLatch{"a", 0, {}})},
             asks(wait),
             {request(2, 2, Remove{"a"})}},
        };
    }

    static std::vector<Delivery> of_barriers() {
        const Arrive waits{"a", 2};
        const Arrive drops{"a", 2, true};
        return {
            {"Arrive", {}, asks(waits), {request(2, 1, waits)}},
            {"ArriveAsTheLast", {request(2, 1, waits)}, asks(waits), {request(2, 2, waits)}},
            {"Drop", {request(2, 1, waits)}, asks(drops), {request(2, 2, waits)}},
            {"Quit",
             {request(1, 1, waits), request(2, 1, waits)},
             asks(Quit{Seq{1}, "a"}),
             {request(2, 2, Remove{"a"})}},
        };
    }

    std::map<OperationId, Answer> answers_;
};

TEST_P(LockMachineDeliveries, HaveNoSecondEffect) {  // P6
    const auto& [delivery, way, has_new_leader, name] = GetParam();
    come_to(delivery, way);
    if (has_new_leader) elect_another();
    const auto before = machine_.list("", "", SIZE_MAX);
    static_cast<void>(machine_.take_changed_rows());
    const auto expects = expected(delivery, way);
    const auto told = take(delivery.command);
    EXPECT_TRUE(told == expects) << spec::words(told) << "\ninstead of\n" << spec::words(expects);
    EXPECT_TRUE(machine_.take_changed_rows().empty());
    EXPECT_EQ(machine_.list("", "", SIZE_MAX), before);
}

INSTANTIATE_TEST_SUITE_P(OfEveryCommand, LockMachineDeliveries,
                         testing::ValuesIn(LockMachineDeliveries::cells()),
                         [](const auto& cell) { return cell.param.name; });

TEST(LockMachineDeliveriesTable, HasEveryCommand) {
    std::set<std::size_t> commands;
    std::set<std::size_t> bodies;
    for (const auto& delivery : LockMachineDeliveries::all()) {
        commands.insert(delivery.command.index());
        const auto* request = std::get_if<Request>(&delivery.command);
        if (request != nullptr) bodies.insert(request->body.index());
    }
    EXPECT_EQ(commands.size(), std::variant_size_v<Command>);
    EXPECT_EQ(bodies.size(), std::variant_size_v<RequestBody>);
}

}  // namespace
}  // namespace mortise::core
