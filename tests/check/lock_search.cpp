#include "tests/check/lock_search.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/base/prng.hpp"

namespace mortise::check {

namespace {

struct State {
    std::vector<std::size_t> holds;  // in the history, that the cluster may still know
    std::uint64_t newest_token = 0;
    core::LockMode newest_mode = core::LockMode::exclusive;
    // The time at which a hold ended by itself: no later step can have returned before.
    Time now = std::numeric_limits<Time>::min();
    std::size_t granted = 0;  // the number of ordered grants
};

struct Key {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    void toggle(const Key& other) {
        high ^= other.high;
        low ^= other.low;
    }
    friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.low; }
};

std::vector<Key> random_keys(core::Prng& prng, std::size_t count) {
    std::vector<Key> keys(count);
    for (auto& key : keys)
        key = {prng.next(), prng.next()};
    return keys;
}

// The steps that are not ordered yet, by the time of the call; any of them can be removed and
// restored.
class Remaining {
public:
    explicit Remaining(std::size_t count) : next_(count + 1), previous_(count + 1) {
        for (std::size_t i = 0; i <= count; ++i) {
            next_[i] = (i + 1) % (count + 1);
            previous_[i] = (i + count) % (count + 1);
        }
    }
    // Step i is link i+1; link 0 is the head.
    [[nodiscard]] std::size_t first() const { return next_[0]; }
    [[nodiscard]] std::size_t after(std::size_t link) const { return next_[link]; }
    void take(std::size_t link) {
        next_[previous_[link]] = next_[link];
        previous_[next_[link]] = previous_[link];
    }
    // In the reverse order of their removal.
    void put_back(std::size_t link) {
        next_[previous_[link]] = link;
        previous_[next_[link]] = link;
    }

private:
    std::vector<std::size_t> next_;
    std::vector<std::size_t> previous_;
};

class Search {
public:
    Search(const LockHistory& history, std::size_t states_max)
        : history_{history}, states_max_{states_max}, remaining_{history.steps.size()}, prng_{1} {
        step_keys_ = random_keys(prng_, history.steps.size());
        hold_keys_ = random_keys(prng_, history.holds.size());
        for (const auto& step : history.steps) {
            if (step.kind == Step::Kind::grant) tokens_.push_back(step.token);
        }
        std::ranges::sort(tokens_);
    }

    SearchResult run();

private:
    struct Frame {
        State state;  // before the step
        Key done;     // the steps before it
        std::size_t link = 0;
        std::vector<std::size_t> others;  // to be tried after it
    };

    [[nodiscard]] std::vector<std::size_t> candidates() const;
    bool advance(std::vector<std::size_t> open);
    bool go_back();
    // The state after the step; empty if it cannot be next.
    [[nodiscard]] std::optional<State> after(const Step& step);
    bool end_those_in_the_way(State& state, const Step& step);
    bool may_take_token(const State& state, const Step& step);
    bool is_busy(const State& state, const Step& step) const;
    [[nodiscard]] std::optional<State> after_release(State state, const Step& step);
    bool is_new(const State& state, const Key& done);
    bool refuse(std::string why);

    [[nodiscard]] bool gives_up() const { return seen_.size() >= states_max_; }

    const LockHistory& history_;
    const std::size_t states_max_;
    Remaining remaining_;
    core::Prng prng_;
    std::vector<Key> step_keys_;
    std::vector<Key> hold_keys_;
    std::vector<std::uint64_t> tokens_;
    State state_;
    Key done_;
    std::vector<Frame> path_;
    std::unordered_set<Key, KeyHash> seen_;
    std::string reason_;
    std::string deepest_reason_;
    std::size_t deepest_ = 0;
};

SearchResult Search::run() {
    SearchResult result;
    result.explained = true;
    while (result.explained && path_.size() < history_.steps.size())
        result.explained = advance(candidates()) || go_back();
    result.states = seen_.size();
    result.given_up = !result.explained && gives_up();
    if (result.given_up) result.explained = true;
    if (!result.explained) result.why = deepest_reason_;
    return result;
}

// The steps that were called before any other returned.
std::vector<std::size_t> Search::candidates() const {
    auto earliest = never;
    std::vector<std::size_t> found;
    for (auto link = remaining_.first(); link != 0; link = remaining_.after(link)) {
        const auto& step = history_.steps[link - 1];
        if (step.invoked > earliest) break;
        earliest = std::min(earliest, step.returned);
        found.push_back(link);
    }
    std::erase_if(found,
                  [&](std::size_t link) { return history_.steps[link - 1].invoked > earliest; });
    // The first one to return is likely to be the first.
    std::ranges::stable_sort(found, {},
                             [&](std::size_t link) { return history_.steps[link - 1].returned; });
    return found;
}

bool Search::advance(std::vector<std::size_t> open) {
    while (!open.empty()) {
        const auto link = open.front();
        open.erase(open.begin());
        const auto& step = history_.steps[link - 1];
        auto next = after(step);
        if (!next) continue;
        auto done = done_;
        done.toggle(step_keys_[link - 1]);
        if (!is_new(*next, done)) continue;
        // A step that changes nothing may be placed now, without trying the others.
        if (step.kind == Step::Kind::busy) open.clear();
        path_.push_back({std::exchange(state_, std::move(*next)), std::exchange(done_, done), link,
                         std::move(open)});
        remaining_.take(link);
        return true;
    }
    if (path_.size() >= deepest_) {
        deepest_ = path_.size();
        deepest_reason_ = reason_;
    }
    return false;
}

bool Search::go_back() {
    while (!path_.empty() && !gives_up()) {
        auto frame = std::move(path_.back());
        path_.pop_back();
        remaining_.put_back(frame.link);
        state_ = std::move(frame.state);
        done_ = frame.done;
        if (advance(std::move(frame.others))) return true;
    }
    return false;
}

bool Search::is_new(const State& state, const Key& done) {
    auto key = done;
    for (const auto hold : state.holds)
        key.toggle(hold_keys_[hold]);
    core::Prng mix{static_cast<std::uint64_t>(state.now)};
    key.toggle({mix.next(), mix.next()});
    return seen_.insert(key).second;
}

bool Search::refuse(std::string why) {
    reason_ = std::move(why);
    return false;
}

std::optional<State> Search::after(const Step& step) {
    auto state = state_;
    if (step.returned < state.now) return std::nullopt;
    switch (step.kind) {
        case Step::Kind::grant:
            if (!may_take_token(state, step) || !end_those_in_the_way(state, step))
                return std::nullopt;
            state.holds.push_back(step.hold);
            state.newest_token = step.token;
            state.newest_mode = step.mode;
            ++state.granted;
            return state;
        case Step::Kind::busy:
            if (is_busy(state, step)) return state;
            refuse("a try was refused although nobody was in the way");
            return std::nullopt;
        case Step::Kind::release:
        case Step::Kind::miss:
        case Step::Kind::loss: return after_release(std::move(state), step);
    }
    return std::nullopt;
}

bool Search::may_take_token(const State& state, const Step& step) {
    if (step.token < state.newest_token)
        return refuse("token " + std::to_string(step.token) + " was granted after token " +
                      std::to_string(state.newest_token));
    // A smaller token is still to come, and would be too late.
    const auto next = tokens_[state.granted];
    if (step.token != next)
        return refuse("token " + std::to_string(next) + " was granted after token " +
                      std::to_string(step.token));
    if (step.token > state.newest_token) return true;
    const bool joins = step.mode == state.newest_mode && core::compatible(step.mode, step.mode);
    const bool shared = std::ranges::any_of(
        state.holds, [&](std::size_t hold) { return history_.holds[hold].token == step.token; });
    if (joins && (shared || step.unseen_join)) return true;
    return refuse("token " + std::to_string(step.token) + " was granted twice");
}

bool Search::end_those_in_the_way(State& state, const Step& step) {
    for (const auto hold : state.holds) {
        const auto& held = history_.holds[hold];
        if (core::compatible(held.mode, step.mode)) continue;
        if (held.may_end > step.returned)
            return refuse("token " + std::to_string(step.token) + " was granted while token " +
                          std::to_string(held.token) + " was valid");
        state.now = std::max(state.now, held.may_end);
    }
    std::erase_if(state.holds, [&](std::size_t hold) {
        return core::conflict(history_.holds[hold].mode, step.mode);
    });
    return true;
}

bool Search::is_busy(const State& state, const Step& step) const {
    if (step.unseen_holder) return true;
    if (step.contended && !state.holds.empty()) return true;
    return std::ranges::any_of(state.holds, [&](std::size_t hold) {
        return core::conflict(history_.holds[hold].mode, step.mode);
    });
}

std::optional<State> Search::after_release(State state, const Step& step) {
    const auto held = std::ranges::find_if(
        state.holds, [&](std::size_t hold) { return history_.holds[hold].owner == step.owner; });
    const auto token = std::to_string(step.token);
    if (step.kind == Step::Kind::release) {
        if (held == state.holds.end()) {
            refuse("token " + token + " was released by somebody who did not hold it");
            return std::nullopt;
        }
        state.holds.erase(held);
        return state;
    }
    if (held == state.holds.end()) return state;
    const auto end = history_.holds[*held].may_end;
    if (end > step.returned) {
        refuse("token " + token + " was valid, and its release was refused");
        return std::nullopt;
    }
    state.now = std::max(state.now, end);
    if (step.kind == Step::Kind::miss) state.holds.erase(held);
    return state;
}

}  // namespace

SearchResult search(const LockHistory& history, std::size_t states_max) {
    if (!history.nonsense.empty()) return {false, false, history.nonsense, 0};
    return Search{history, states_max}.run();
}

}  // namespace mortise::check
