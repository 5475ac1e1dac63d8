#include "tests/check/made_history.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <utility>

namespace mortise::check {

namespace {

constexpr Time lease = 2'000;

// One name, its cluster, and processes that request it.
class MadeLock {
public:
    MadeLock(std::string name, const MadeOptions& options, core::Prng prng)
        : name_{std::move(name)}, options_{options}, prng_{prng} {}

    Calls run() {
        for (std::size_t i = 0; i < options_.processes; ++i)
            live(name_ + "." + std::to_string(++born_));
        while (!events_.empty()) {
            const auto event = events_.top();
            events_.pop();
            now_ = event.at;
            event.happens();
        }
        Calls calls{calls_.begin(), calls_.end()};
        std::ranges::stable_sort(calls, {}, &Call::invoked);
        return calls;
    }

private:
    struct Event {
        Time at = 0;
        std::uint64_t order = 0;
        std::function<void()> happens;

        friend bool operator<(const Event& a, const Event& b) {
            return std::pair{a.at, a.order} > std::pair{b.at, b.order};
        }
    };
    struct Asking {
        std::size_t call = 0;
        core::LockMode mode = core::LockMode::exclusive;
        std::uint64_t token = 0;  // set when it is granted
    };

    void in(Time delay, std::function<void()> happens) {
        events_.push({now_ + delay, ++events_made_, std::move(happens)});
    }
    Time latency() { return prng_.between(1, 20); }

    std::size_t begin_call(const std::string& process, Operation operation) {
        Call call;
        call.process = process;
        call.operation = operation;
        call.name = name_;
        call.invoked = now_;
        call.outcome = Outcome::unknown;
        calls_.push_back(std::move(call));
        return calls_.size() - 1;
    }
    void end_call(std::size_t place, Outcome outcome) {
        calls_[place].returned = now_;
        calls_[place].outcome = outcome;
    }
    void say(const std::string& process, Operation operation, std::uint64_t token, Time since) {
        const auto place = begin_call(process, operation);
        end_call(place, Outcome::none);
        calls_[place].invoked = since;
        calls_[place].token = token;
        if (operation == Operation::died) calls_[place].name.clear();
    }

    // --- a process
    void live(const std::string& process) {
        if (calls_.size() >= options_.calls) return;
        in(prng_.between(1, 200), [this, process] { ask(process); });
    }

    void ask(const std::string& process) {
        const bool waits = !prng_.one_in(4);
        const auto call = begin_call(process, waits ? Operation::acquire : Operation::try_acquire);
        const auto mode = prng_.one_in(3) ? core::LockMode::shared : core::LockMode::exclusive;
        calls_[call].mode = mode;
        in(latency(), [this, call, mode, waits] { arrive({call, mode}, waits); });
        if (waits && prng_.one_in(6)) in(prng_.between(30, 300), [this, call] { give_up(call); });
        if (waits && prng_.one_in(40)) in(prng_.between(1, 60), [this, call] { die_asking(call); });
    }

    bool is_open(std::size_t call) const { return !calls_.at(call).returned; }

    void give_up(std::size_t call) {
        if (!is_open(call) || dead_.contains(call)) return;
        end_call(call, prng_.one_in(2) ? Outcome::timed_out : Outcome::cancelled);
        in(latency() + prng_.between(0, 100), [this, call] { forget(call); });
        live(calls_[call].process);
    }

    void die_asking(std::size_t call) {
        if (!is_open(call) || dead_.contains(call)) return;
        dead_.insert(call);
        say(calls_[call].process, Operation::died, 0, now_);
        in(lease + prng_.between(0, 100), [this, call] { forget(call); });
        live(name_ + "." + std::to_string(++born_));
    }

    // The process gets the answer to its call.
    void learn(const Asking& granted) {
        if (!is_open(granted.call) || dead_.contains(granted.call)) return;
        end_call(granted.call, Outcome::granted);
        calls_[granted.call].token = granted.token;
        calls_[granted.call].valid_until = now_ + lease;
        in(prng_.between(1, 300), [this, granted] { let_go(granted); });
    }

    void let_go(const Asking& granted) {
        const auto process = calls_[granted.call].process;
        const auto kind = prng_.below(20);
        if (kind == 0) {
            say(process, Operation::died, 0, now_);
            const auto trusted = *calls_[granted.call].valid_until - now_;
            in(trusted + prng_.between(1, 500), [this, granted] { forget(granted.call); });
            live(name_ + "." + std::to_string(++born_));
            return;
        }
        if (kind == 1) {
            say(process, Operation::lost, granted.token, now_ - prng_.between(0, 5));
            in(prng_.between(1, 500), [this, granted] { forget(granted.call); });
            live(process);
            return;
        }
        if (kind == 2) say(process, Operation::valid, granted.token, now_);
        release(process, granted);
    }

    void release(const std::string& process, const Asking& granted) {
        const auto call = begin_call(process, Operation::release);
        calls_[call].token = granted.token;
        if (prng_.one_in(12)) {  // the answer is lost, and the request may be lost as well
            in(300, [this, process] { live(process); });
            in(prng_.between(1, 1'000), [this, granted] { forget(granted.call); });
            return;
        }
        in(latency(), [this, process, call, granted] {
            forget(granted.call);
            in(latency(), [this, process, call] {
                end_call(call, Outcome::released);
                live(process);
            });
        });
    }

    // --- the cluster
    void arrive(Asking asking, bool waits) {
        const bool free = queue_.empty() && fits(asking.mode);
        if (!waits && !free) {
            in(latency(), [this, asking] {
                end_call(asking.call, Outcome::busy);
                live(calls_[asking.call].process);
            });
            return;
        }
        if (forgotten_.contains(asking.call)) return;
        queue_.push_back(asking);
        serve();
    }

    bool fits(core::LockMode mode) const {
        return std::ranges::all_of(
            holders_, [&](const Asking& holder) { return core::compatible(holder.mode, mode); });
    }

    void serve() {
        while (!queue_.empty() && fits(queue_.front().mode)) {
            auto granted = queue_.front();
            queue_.pop_front();
            const bool joins = granted.mode == core::LockMode::shared && !holders_.empty() &&
                               newest_mode_ == core::LockMode::shared;
            if (!joins) newest_ += static_cast<std::uint64_t>(prng_.between(1, 3));
            granted.token = newest_;
            newest_mode_ = granted.mode;
            holders_.push_back(granted);
            in(latency(), [this, granted] { learn(granted); });
        }
    }

    // A release, a cancel or the end of a session: nothing is left of this call.
    void forget(std::size_t call) {
        forgotten_.insert(call);
        const auto is_it = [&](const Asking& asking) { return asking.call == call; };
        std::erase_if(holders_, is_it);
        std::erase_if(queue_, is_it);
        serve();
    }

    std::string name_;
    MadeOptions options_;
    core::Prng prng_;
    Time now_ = 0;
    std::priority_queue<Event> events_;
    std::uint64_t events_made_ = 0;
    std::deque<Call> calls_;
    std::set<std::size_t> dead_;  // calls whose process has died

    std::set<std::size_t> forgotten_;
    std::size_t born_ = 0;
    std::vector<Asking> holders_;
    std::deque<Asking> queue_;
    std::uint64_t newest_ = 0;
    core::LockMode newest_mode_ = core::LockMode::exclusive;
};

}  // namespace

Calls made_history(const MadeOptions& options) {
    core::Prng prng{options.seed};
    Calls calls;
    for (std::size_t i = 0; i < options.names; ++i) {
        auto own = MadeLock{"lock" + std::to_string(i), options, core::Prng{prng.next()}}.run();
        std::ranges::move(own, std::back_inserter(calls));
    }
    std::ranges::stable_sort(calls, {}, &Call::invoked);
    for (std::size_t i = 0; i < calls.size(); ++i)
        calls[i].line = i + 1;
    return calls;
}

}  // namespace mortise::check
