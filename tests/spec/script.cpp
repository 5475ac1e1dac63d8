#include "tests/spec/script.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/prng.hpp"
#include "tests/spec/lock_spec.hpp"
#include "tests/spec/words.hpp"

namespace mortise::spec {

using core::LockMode;
using core::LogIndex;
using core::QueuePolicy;
using core::Seq;
using core::SessionId;

namespace {

enum class Kind : std::uint8_t {
    open,
    renew,
    close,
    expire,
    acknowledge,
    sweep,
    acquire,
    release,
    cancel,
    repeat,
    decline,
    upgrade,
    downgrade,
    several,
    value,
    take_away,
    end_closure,
};
constexpr std::size_t kinds = 17;

// Runs the specification along, so that most commands have an effect.
class Maker {
public:
    explicit Maker(std::uint64_t seed)
        : prng_{seed},
          rights_{seed ^ 0x5a5aU},
          caches_{seed ^ 0xcac4eU},
          permits_{seed ^ 0x5e3aU},
          latches_{seed ^ 0x1a7cU},
          barriers_{seed ^ 0xba77U},
          eras_{seed ^ 0xe4a5U} {
        if (eras_.one_in(4)) era_one_in_ = 10 + eras_.below(60);
        if (barriers_.one_in(3)) barrier_percent_ = 5 + barriers_.below(60);
        if (latches_.one_in(3)) latch_percent_ = 5 + latches_.below(40);
        if (permits_.one_in(3)) semaphores_ = 1 + permits_.below(3);
        limit_ = static_cast<std::uint32_t>(1 + permits_.below(permits_.one_in(3) ? 70 : 5));
        if (!caches_.one_in(3)) cached_percent_ = 10 + caches_.below(80);
        if (rights_.one_in(3)) restricted_percent_ = 30 + rights_.below(60);
        // Sometimes with more names than one Sweep visits.
        is_wide_ = prng_.one_in(200);
        names_ = is_wide_ ? core::sweep_names_max + 50 : 1 + prng_.below(4);
        // Sometimes with more on one name than one Sweep removes.
        is_deep_ = !is_wide_ && seed % 250 == 0;
        if (is_deep_) names_ = 2;
        entries_ = is_wide_ || is_deep_ ? 24 : 20 + prng_.below(100);
        policies_mixed_ = prng_.one_in(3);
        policy_ = prng_.one_in(2) ? QueuePolicy::phase_fair : any_policy();
        if (!prng_.one_in(3)) lockers_ = 1 + prng_.below(2);
        if (prng_.one_in(3)) priorities_ = prng_.one_in(2) ? 2 : core::priority_max + 1U;
        modes_ = pick_modes();
        weights_ = pick_weights();
        if (weights_.back() > 0 && !prng_.one_in(3)) terms_percent_ = 10 + prng_.below(50);
        processes_.resize(1 + prng_.below(4));
        for (std::size_t i = 0; i < processes_.size(); ++i) {
            processes_[i].incarnation = core::Incarnation{100 + prng_.below(processes_.size())};
        }
    }

    Script make() {
        for (std::size_t i = 0; i < processes_.size(); ++i)
            put({open(processes_[i], false)});
        if (is_wide_) fill_names();
        if (is_deep_) fill_one_name();
        while (script_.size() < entries_) {
            if (era_one_in_ != 0) lose_power();
            Entry entry;
            const auto commands = prng_.one_in(4) ? 1 + prng_.below(4) : 1;
            while (entry.size() < commands) {
                if (auto command = make_command()) entry.push_back(std::move(*command));
            }
            put(std::move(entry));
        }
        if (is_deep_) end_everybody();
        return std::move(script_);
    }

private:
    struct Process {
        core::Incarnation incarnation;
        core::BootEpoch epoch{1};
        std::uint64_t nonce = 0;
        SessionId session;
        std::uint64_t renewal = 0;
        std::vector<core::Request> stream;  // all requests of that session
        std::size_t delivered = 0;          // how many of them were delivered without a gap
    };

    void put(Entry entry) {
        const LogIndex index{script_.size() + 1};
        const auto outcomes = entry.begins_era ? spec_.begin_era(index) : spec_.apply(index, entry);
        for (const auto& outcome : outcomes) {
            const auto* opened = std::get_if<core::SessionOpened>(&outcome);
            if (opened == nullptr) continue;
            for (auto& process : processes_) {
                if (process.nonce != opened->nonce || process.session == opened->session) continue;
                process.session = opened->session;
                process.renewal = process.delivered = 0;
                process.stream.clear();
            }
        }
        for (const auto& command : entry)
            sent_.push_back(command);
        script_.push_back(std::move(entry));
    }

    // Now and then. The cluster soon opens again, and everybody is back.
    void lose_power() {
        if (eras_.one_in(8)) put({ceiling()});
        if (eras_.one_in(era_one_in_)) put(Entry::of_an_era());
        if (!spec_.era_closure().is_set() || !eras_.one_in(3)) return;
        Entry entry;
        if (eras_.one_in(3)) entry.push_back(open(processes_.front(), true));
        entry.push_back(core::EndClosure{spec_.era_closure()});
        for (auto& process : processes_)
            if (!eras_.one_in(4)) entry.push_back(open(process, true));
        put(std::move(entry));
    }

    // Often one that has no effect, and mostly so small that tokens grow beyond it.
    core::RaiseCeiling ceiling() {
        const auto newest = spec_.newest_token().raw();
        const auto more = eras_.one_in(10) ? std::uint64_t{1} << eras_.below(45) : eras_.below(20);
        return {
            core::FencingToken{eras_.one_in(4) ? 1 + eras_.below(newest + 1) : newest + 1 + more}};
    }

    std::vector<LockMode> pick_modes() {
        using enum LockMode;
        switch (prng_.below(5)) {
            case 0: return {shared, exclusive};
            case 1: return {shared, update, exclusive};
            case 2: return {intent_exclusive, shared, exclusive};
            case 3: return {intent_shared, intent_exclusive, shared, exclusive};
            default: return {core::all_lock_modes.begin(), core::all_lock_modes.end()};
        }
    }

    std::array<std::uint64_t, kinds> pick_weights() {
        //  open ren clo exp ack swp acq  rel cnl rep dec up down sev val brk end
        switch (prng_.below(9)) {
            // the queue rules
            case 0: return {1, 1, 0, 0, 1, 1, 50, 35, 5, 2, 0, 0, 0, 0, 0, 0, 0};
            // a bit of everything
            case 1: return {4, 4, 2, 3, 3, 5, 40, 20, 8, 5, 2, 5, 3, 8, 4, 4, 2};
            // losses and repetitions
            case 2: return {2, 1, 1, 1, 12, 1, 20, 12, 15, 25, 10, 8, 4, 4, 2, 2, 1};
            // conversions
            case 3: return {1, 1, 1, 1, 1, 1, 40, 15, 6, 2, 0, 20, 12, 0, 0, 0, 0};
            // several names
            case 4: return {1, 1, 1, 1, 1, 1, 15, 20, 6, 2, 0, 0, 0, 30, 0, 0, 0};
            // all together
            case 5: return {5, 4, 3, 4, 1, 3, 15, 20, 6, 2, 0, 6, 4, 20, 8, 8, 4};
            // values and breaks
            case 6: return {2, 8, 1, 2, 1, 2, 30, 12, 3, 3, 1, 3, 2, 3, 12, 20, 10};
            case 7: return {4, 4, 2, 6, 1, 4, 30, 12, 3, 3, 1, 6, 2, 8, 12, 20, 6};
            // many sessions
            default: return {14, 8, 6, 10, 2, 5, 40, 10, 5, 3, 1, 4, 2, 8, 2, 2, 1};
        }
    }

    std::optional<core::Command> make_command() {
        std::uint64_t total = 0;
        for (const auto weight : weights_)
            total += weight;
        auto chance = prng_.below(total);
        std::size_t kind = 0;
        for (; chance >= weights_[kind]; ++kind)
            chance -= weights_[kind];

        auto& process = processes_[prng_.below(processes_.size())];
        const bool has_lost_some = process.delivered < process.stream.size();
        if (has_lost_some && prng_.one_in(2)) return send_again(process);
        switch (static_cast<Kind>(kind)) {
            case Kind::open: return open(process, true);
            case Kind::renew: return renew();
            case Kind::close: return request(process, core::CloseSession{});
            case Kind::expire: return expire();
            case Kind::acknowledge: return acknowledge();
            case Kind::sweep: return core::Sweep{};
            case Kind::acquire: return request(process, acquire());
            case Kind::release:
                if (barrier_percent_ > barriers_.below(100)) return request(process, meet(process));
                if (latch_percent_ > latches_.below(100)) return request(process, count_or_wait());
                if (semaphores_ != 0 && permits_.one_in(5))
                    return request(process, resize_or_remove());
                if (cached_percent_ != 0 && caches_.one_in(3))
                    return request(process, publish(process));
                return request(process, core::Release{target(process, true), prng_.one_in(6)});
            case Kind::cancel: return request(process, core::Cancel{target(process, false)});
            case Kind::repeat: return repeat();
            case Kind::decline: return request(process, core::Declined{});
            case Kind::upgrade: return upgrade(process);
            case Kind::downgrade: return downgrade(process);
            case Kind::several: return request(process, several());
            case Kind::value: return value(process);
            case Kind::take_away:
                if (prng_.one_in(8))
                    return request(process, core::AskRelease{name(prng_.below(names_)), "need it"});
                if (prng_.one_in(12)) return request(process, evict());
                return request(process, take_away());
            case Kind::end_closure: return end_closure();
        }
        return std::nullopt;
    }

    QueuePolicy any_policy() { return static_cast<QueuePolicy>(prng_.below(4)); }

    core::Command open(Process& process, bool may_be_odd) {
        core::OpenSession open;
        if (may_be_odd && prng_.one_in(3)) {
            process.epoch = process.epoch.next();
            open.former_life_ended = !prng_.one_in(3);
        }
        process.nonce = ++nonces_;
        open.nonce = process.nonce;
        open.node = core::NodeId{1 + prng_.below(3)};
        open.generation.incarnation = process.incarnation;
        open.generation.boot_epoch = process.epoch;
        open.ttl_ms = 10'000;
        open.rho_ppm = 10'000;
        if (restricted_percent_ > rights_.below(100)) open.access = access();
        if (may_be_odd && prng_.one_in(8)) {  // a copied directory
            open.generation.boot_epoch = core::BootEpoch{1 + prng_.below(process.epoch.raw())};
            open.former_life_ended = prng_.one_in(2);
        }
        return open;
    }

    // Names are n0, n1, ...: some of the prefixes cover one name, or ten, or all.
    core::Access access() {
        core::Access access{{static_cast<core::AccessRole>(rights_.below(2))}, {}};
        if (rights_.one_in(4)) access.roles = {static_cast<core::AccessRole>(rights_.below(5))};
        for (auto rules = rights_.below(4); rules > 0; --rules) {
            const auto right = static_cast<core::Right>(rights_.below(3));
            auto prefix = name(rights_.below(names_));
            if (rights_.one_in(6)) prefix = rights_.one_in(2) ? "n" : "n00";
            access.rules.push_back({right, std::move(prefix)});
        }
        return access;
    }

    core::Command renew() {
        core::Renew renew;
        for (auto left = 1 + prng_.below(3); left > 0; --left) {
            auto& process = processes_[prng_.below(processes_.size())];
            if (prng_.one_in(5)) {
                renew.renewals.push_back({any_session(), prng_.below(4)});
            } else {
                renew.renewals.push_back({process.session, ++process.renewal});
            }
        }
        return renew;
    }

    core::Command expire() {
        const auto session = any_session();
        LogIndex at{prng_.below(script_.size() + 1)};
        if (is_live(session) && !prng_.one_in(3)) at = spec_.renewed_at(session);
        return core::Expire{session, at};
    }

    core::Command acknowledge() {
        const auto now = script_.size() + 1;
        const auto back = std::min<std::uint64_t>(now, prng_.below(20));
        return core::Acknowledge{any_session(), LogIndex{prng_.one_in(10) ? now + 5 : now - back}};
    }

    core::Acquire acquire() {
        core::Acquire acquire;
        acquire.names.push_back({name(prng_.below(names_)), modes_[prng_.below(modes_.size())]});
        acquire.wait = !prng_.one_in(5);
        acquire.policy = policy_;
        if (policies_mixed_) {
            acquire.policy = any_policy();
            acquire.policy_given = prng_.one_in(3);
        }
        if (prng_.one_in(3))
            acquire.priority = static_cast<core::Priority>(prng_.below(priorities_));
        if (lockers_ > 0 && !prng_.one_in(4)) {
            acquire.locker.number = 1 + prng_.below(lockers_);
            if (prng_.one_in(4)) acquire.locker.label = "k";
        }
        if (prng_.one_in(3)) acquire.label = std::string(1 + prng_.below(3), 'l');
        if (prng_.below(100) < terms_percent_) acquire.terms = terms();
        if (caches_.below(100) < cached_percent_) acquire.cached_tokens = cached_tokens(acquire);
        if (semaphores_ != 0) ask_for_permits(acquire);
        return acquire;
    }

    // The names n0, n1, ... are semaphores, as many as there are, mostly.
    void ask_for_permits(core::Acquire& acquire) {
        const auto& name = acquire.names.front().name;
        const bool is_semaphore = std::stoull(name.substr(1)) < semaphores_;
        if (permits_.one_in(25) ? is_semaphore : !is_semaphore) return;
        acquire.permits = any_permits(permits_.one_in(4) ? 2 * limit_ : 3);
        acquire.limit = permits_.one_in(10) ? any_permits(8) : limit_;
        if (permits_.one_in(30)) return;  // mostly not allowed
        acquire.names.front().mode = LockMode::exclusive;
        acquire.policy = {};
        acquire.policy_given = false;
        acquire.locker = {};
        acquire.cached_tokens = 0;
    }

    std::uint32_t any_permits(std::uint64_t most) {
        return static_cast<std::uint32_t>(1 + permits_.below(most));
    }

    // Mostly of a semaphore.
    core::RequestBody resize_or_remove() {
        const auto number =
            permits_.one_in(8) ? names_ : std::min<std::uint64_t>(names_, semaphores_);
        const auto which = name(permits_.below(number));
        if (permits_.one_in(4)) return core::Remove{which};
        core::Resize resize{which, any_permits(2 * limit_) - 1, 0};
        if (permits_.one_in(2)) resize.expected_version = 1 + permits_.below(4);
        return resize;
    }

    // Mostly at the first name.
    core::RequestBody meet(const Process& process) {
        const auto which = name(barriers_.one_in(6) ? barriers_.below(names_) : 0);
        if (barriers_.one_in(10)) return core::Remove{which};
        if (barriers_.one_in(20)) return core::Quit{target(process, false), which};
        const auto parties = static_cast<std::uint32_t>(1 + barriers_.below(4));
        return core::Arrive{which, parties, barriers_.one_in(6), barriers_.one_in(4) ? "b" : ""};
    }

    // Mostly of the last name, which others may use as a lock or as a semaphore.
    core::RequestBody count_or_wait() {
        const auto which = name(latches_.one_in(6) ? latches_.below(names_) : names_ - 1);
        if (latches_.one_in(8)) return core::Remove{which};
        const auto expected = static_cast<std::uint32_t>(latches_.below(8));
        if (latches_.one_in(2))
            return core::CountDown{which, expected, static_cast<std::uint32_t>(latches_.below(4))};
        return core::AwaitLatch{which, expected, latches_.one_in(3) ? "w" : ""};
    }

    // Mostly valid: not with terms, and not in each mode.
    std::uint32_t cached_tokens(const core::Acquire& acquire) {
        const auto mode = acquire.names.front().mode;
        const bool may = mode == LockMode::shared || mode == LockMode::exclusive;
        if ((!may || acquire.terms.is_set()) && !caches_.one_in(20)) return 0;
        return static_cast<std::uint32_t>(1 + caches_.below(caches_.one_in(50) ? 1U << 25U : 5));
    }

    // Mostly of a cached grant, with one of its tokens.
    core::Publish publish(const Process& process) {
        core::Publish as;
        as.operation = target(process, true);
        as.token = core::FencingToken{1 + caches_.below(spec_.newest_token().raw() + 1)};
        for (const auto& view : spec_.list("", "", core::records_max)) {
            for (const auto& holder : view.holders) {
                if (holder.operation.session != process.session || !holder.is_cached()) continue;
                as.operation = holder.operation.seq;
                as.token = core::FencingToken{
                    holder.token.raw() +
                    caches_.below(holder.cached_tokens + (caches_.one_in(8) ? 1U : 0U))};
                if (caches_.one_in(2)) break;
            }
        }
        if (lockers_ > 0) as.locker.number = caches_.below(lockers_ + 1);
        if (caches_.one_in(3)) as.label = "p";
        as.ended = caches_.one_in(3);
        return as;
    }

    // Mostly a valid request.
    core::Acquire several() {
        auto several = acquire();
        const auto one = std::exchange(several.names, {}).front();
        const bool all = prng_.one_in(2);
        several.cached_tokens = 0;
        if (!permits_.one_in(30)) several.permits = several.limit = 0;
        several.which = all ? core::Acquire::Which::all : core::Acquire::Which::any;
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(names_, 5); ++i) {
            if (prng_.one_in(3)) continue;
            several.names.push_back({name(i), modes_[prng_.below(modes_.size())]});
        }
        if (several.names.empty()) several.names.push_back(one);
        auto& names = several.names;
        if (!all || prng_.one_in(20)) std::swap(names.front(), names[prng_.below(names.size())]);
        if (prng_.one_in(40)) names.push_back(names.front());
        return several;
    }

    core::HoldTerms terms() {
        core::HoldTerms terms;
        const auto ms = [&] { return static_cast<std::uint32_t>(prng_.below(60)); };
        if (prng_.one_in(2)) terms.max_hold_ms = ms();
        if (prng_.one_in(2)) terms.min_hold_ms = ms();
        if (prng_.one_in(2)) terms.lock_delay_ms = ms();
        return terms;
    }

    // Mostly one of the newest.
    core::EndClosure end_closure() {
        const auto newest = spec_.newest_closure().raw();
        const auto back = prng_.below(std::min<std::uint64_t>(newest, 16) + 1);
        return {core::ClosureId{prng_.one_in(8) ? 1 + prng_.below(newest + 2) : newest + 1 - back}};
    }

    core::Command upgrade(Process& process) {
        return request(process, core::Upgrade{target(process, true), !prng_.one_in(4)});
    }

    core::Command downgrade(Process& process) {
        const auto mode = prng_.one_in(4) ? core::all_lock_modes[prng_.below(core::lock_modes)]
                                          : modes_[prng_.below(modes_.size())];
        return request(process, core::Downgrade{target(process, true), mode});
    }

    core::Command value(Process& process) {
        const auto hold = target(process, true);
        std::string held = name(prng_.below(names_));
        for (const auto& view : spec_.list("", "", core::records_max)) {
            for (const auto& holder : view.holders) {
                const bool is_it = holder.operation == core::OperationId{process.session, hold};
                if (is_it && !prng_.one_in(10)) held = view.name;
            }
        }
        if (prng_.one_in(4)) return request(process, core::MarkConsistent{hold, held});
        return request(process, core::SetValue{hold, held, std::string(prng_.below(4), 'v')});
    }

    core::EvictSession evict() {
        return {any_session(), prng_.one_in(2) ? "" : "hangs", prng_.one_in(3)};
    }

    // Mostly the token of a holder.
    core::BreakLock take_away() {
        core::BreakLock request;
        request.name = name(prng_.below(names_));
        request.reason = prng_.one_in(2) ? "" : "stuck";
        request.immediate = prng_.one_in(4);
        const auto view = spec_.inspect(request.name);
        request.expected = core::FencingToken{1 + prng_.below(spec_.newest_token().raw() + 1)};
        if (view.holders.empty() || prng_.one_in(8)) return request;
        request.expected = view.holders[prng_.below(view.holders.size())].token;
        return request;
    }

    // Mostly an operation that can be ended, and sometimes any past or future one.
    Seq target(const Process& process, bool held) {
        std::vector<Seq> found;
        for (const auto& view : spec_.list("", "", core::records_max)) {
            for (const auto& holder : view.holders) {
                if (holder.operation.session == process.session && (held || prng_.one_in(4))) {
                    found.push_back(holder.operation.seq);
                }
            }
            for (const auto& waiter : view.waiters) {
                if (waiter.operation.session == process.session && !held) {
                    found.push_back(waiter.operation.seq);
                }
            }
        }
        if (found.empty() || prng_.one_in(6))
            return Seq{1 + prng_.below(process.stream.size() + 4)};
        return found[prng_.below(found.size())];
    }

    // Mostly at its turn. Some come ahead of a lost one, and are sent again after that.
    core::Command request(Process& process, core::RequestBody body) {
        if (prng_.one_in(30)) {  // another session's: a number identifies one request
            return core::Request{any_session(), Seq{10'000 + ++strays_}, std::move(body)};
        }
        note(process, std::move(body));
        if (prng_.one_in(12)) return process.stream.back();
        return send_again(process);
    }

    static void note(Process& process, core::RequestBody body) {
        const Seq seq{process.stream.size() + 1};
        process.stream.push_back({process.session, seq, std::move(body)});
    }

    // Sends again from the first missing request.
    static core::Command send_again(Process& process) {
        return process.stream[process.delivered++];
    }

    core::Command repeat() {
        if (sent_.empty()) return core::Sweep{};
        const auto recent = std::min<std::uint64_t>(sent_.size(), prng_.one_in(2) ? 6 : 200);
        return sent_[sent_.size() - 1 - prng_.below(recent)];
    }

    SessionId any_session() {
        const auto& process = processes_[prng_.below(processes_.size())];
        return prng_.one_in(4) ? SessionId{1 + prng_.below(process.session.raw() + 2)}
                               : process.session;
    }

    bool is_live(SessionId session) const {
        const auto live = spec_.live_sessions();
        return std::find(live.begin(), live.end(), session) != live.end();
    }

    // Holds every name, and waits for every third one: what a large node leaves behind.
    void fill_names() {
        Entry entry;
        for (std::size_t i = 0; i < names_; ++i) {
            for (std::size_t turn = 0; turn < (i % 3 == 0 ? 2U : 1U); ++turn) {
                auto& process = processes_[(i + turn) % processes_.size()];
                core::Acquire acquire;
                acquire.names.push_back({name(i)});
                note(process, acquire);
                entry.push_back(send_again(process));
            }
        }
        put(std::move(entry));
    }

    // Many sessions hold the name, and one keeps some more waiting.
    void fill_one_name() {
        Entry entry;
        constexpr auto many = core::sweep_traces_max - 20;
        for (std::size_t i = 0; i < many + 40; ++i) {
            auto& process = processes_[prng_.below(processes_.size())];
            core::Acquire acquire;
            acquire.names.push_back({name(0), i == many ? LockMode::exclusive : LockMode::shared});
            acquire.policy = policy_;
            if (prng_.one_in(3))
                acquire.priority = static_cast<core::Priority>(prng_.below(priorities_));
            if (prng_.one_in(3)) acquire.label = std::to_string(i);
            note(process, acquire);
            entry.push_back(send_again(process));
        }
        put(std::move(entry));
    }

    void end_everybody() {
        for (const auto id : spec_.live_sessions()) {
            put({core::Expire{id, spec_.renewed_at(id)}});
            put({core::Sweep{}});
        }
        for (int i = 0; i < 3; ++i)
            put({core::Sweep{}});
    }

    static std::string name(std::uint64_t number) { return "n" + std::to_string(number); }

    core::Prng prng_;
    core::Prng rights_;                  // a separate stream, so that the other draws stay the same
    core::Prng caches_;                  // likewise
    core::Prng permits_;                 // likewise
    core::Prng latches_;                 // likewise
    core::Prng barriers_;                // likewise
    core::Prng eras_;                    // likewise
    std::uint64_t era_one_in_ = 0;       // zero: there is none
    std::uint64_t barrier_percent_ = 0;  // of the requests that would be releases
    std::uint64_t latch_percent_ = 0;    // of the requests that would be releases
    std::uint64_t semaphores_ = 0;
    std::uint32_t limit_ = 1;
    std::uint64_t cached_percent_ = 0;
    std::uint64_t restricted_percent_ = 0;  // of the sessions
    bool is_wide_ = false;
    bool is_deep_ = false;
    std::uint64_t names_ = 1;
    std::size_t entries_ = 0;
    bool policies_mixed_ = false;
    QueuePolicy policy_ = QueuePolicy::phase_fair;
    std::uint64_t priorities_ = 1;
    std::uint64_t lockers_ = 0;  // of a session
    std::uint64_t terms_percent_ = 0;
    std::vector<LockMode> modes_;
    std::array<std::uint64_t, kinds> weights_{};
    std::vector<Process> processes_;
    std::uint64_t nonces_ = 0;
    std::uint64_t strays_ = 0;
    std::vector<core::Command> sent_;
    LockSpec spec_;
    Script script_;
};

}  // namespace

Script make_script(std::uint64_t seed) {
    return Maker{seed}.make();
}

core::Outcomes apply(core::LockMachine& machine, LogIndex index, const Entry& entry) {
    core::Outcomes outcomes;
    if (entry.begins_era) {
        machine.begin_era(index, outcomes);
    } else {
        machine.apply(index, entry, outcomes);
    }
    return outcomes;
}

std::string words(const Script& script) {
    std::string text;
    for (std::size_t i = 0; i < script.size(); ++i) {
        text += "  " + std::to_string(i + 1) + ":";
        if (script[i].begins_era) text += " an era";
        for (const auto& command : script[i])
            text += " [" + words(command) + "]";
        text += "\n";
    }
    return text;
}

}  // namespace mortise::spec
