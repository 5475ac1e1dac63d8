// Compares the search with one that tries everything: every order, every time at which a hold may
// end.
#include <algorithm>
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "tests/check/history_file.hpp"
#include "tests/check/lock_search.hpp"
#include "tests/check/story.hpp"

namespace mortise::check::test {

namespace {

struct Point {
    Time now = -1'000;
    std::vector<std::size_t> holds;
    std::uint64_t newest_token = 0;
    core::LockMode newest_mode = exclusive;
};

class TryEverything {
public:
    explicit TryEverything(const LockHistory& history)
        : history_{history}, done_(history.steps.size()) {}

    bool explains(const Point& point) {
        if (std::ranges::all_of(done_, [](bool done) { return done; })) return true;
        for (std::size_t i = 0; i < done_.size(); ++i) {
            if (done_[i]) continue;
            const auto next = after(point, history_.steps[i]);
            if (!next) continue;
            done_[i] = true;
            const bool explained = explains(*next);
            done_[i] = false;
            if (explained) return true;
        }
        for (std::size_t i = 0; i < point.holds.size(); ++i) {
            const auto end = history_.holds[point.holds[i]].may_end;
            if (end == never) continue;
            auto ended = point;
            ended.now = std::max(point.now, end);
            ended.holds.erase(ended.holds.begin() + static_cast<std::ptrdiff_t>(i));
            if (explains(ended)) return true;
        }
        return false;
    }

private:
    std::optional<Point> after(Point point, const Step& step) const {
        point.now = std::max(point.now, step.invoked);
        if (point.now > step.returned) return std::nullopt;
        const auto owned = std::ranges::find_if(point.holds, [&](std::size_t hold) {
            return history_.holds[hold].owner == step.owner;
        });
        switch (step.kind) {
            case Step::Kind::busy:
                if (!step.unseen_holder && !blocked(point, step) &&
                    !(step.contended && !point.holds.empty()))
                    return std::nullopt;
                return point;
            case Step::Kind::release:
                if (owned == point.holds.end()) return std::nullopt;
                point.holds.erase(owned);
                return point;
            case Step::Kind::miss:
                if (owned != point.holds.end()) return std::nullopt;
                return point;
            case Step::Kind::loss:
                if (owned != point.holds.end())
                    point.now = std::max(point.now, history_.holds[*owned].may_end);
                if (point.now > step.returned) return std::nullopt;
                return point;
            case Step::Kind::grant: break;
        }
        if (blocked(point, step) || !may_take_token(point, step)) return std::nullopt;
        point.holds.push_back(step.hold);
        point.newest_token = step.token;
        point.newest_mode = step.mode;
        return point;
    }

    bool blocked(const Point& point, const Step& step) const {
        return std::ranges::any_of(point.holds, [&](std::size_t hold) {
            return core::conflict(history_.holds[hold].mode, step.mode);
        });
    }

    bool may_take_token(const Point& point, const Step& step) const {
        if (step.token != point.newest_token) return step.token > point.newest_token;
        const bool held = std::ranges::any_of(point.holds, [&](std::size_t hold) {
            return history_.holds[hold].token == step.token;
        });
        const bool joins = step.mode == point.newest_mode && core::compatible(step.mode, step.mode);
        return joins && (held || step.unseen_join);
    }

    const LockHistory& history_;
    std::vector<bool> done_;
};

class Drawing {
public:
    explicit Drawing(std::uint64_t seed) : prng_{seed} {}

    Calls small_history() {
        Story story;
        const auto count = 2 + prng_.below(4);
        for (std::uint64_t i = 0; i < count; ++i)
            add_call(story);
        return story.calls;
    }

private:
    void add_call(Story& story) {
        const std::array<std::string, 3> processes{"a", "b", "c"};
        const auto process = processes.at(prng_.below(3));
        const auto begin = prng_.between(0, 12);
        const auto end = begin + prng_.between(0, 6);
        const auto mode = core::all_lock_modes.at(prng_.below(core::lock_modes));
        const auto token = 1 + prng_.below(3);
        switch (prng_.below(8)) {
            case 0: story.busy(process, begin, end, mode); break;
            case 1:
                story.released(process, begin, end, token,
                               prng_.one_in(2) ? Outcome::not_held : Outcome::lost);
                break;
            case 2: story.lost(process, begin, end, token); break;
            case 3: story.released(process, begin, end, token); break;
            case 4: release_one(story); break;
            default: story.granted(process, begin, end, token, mode); break;
        }
    }

    // Random calls rarely fit together, so this releases an existing hold.
    void release_one(Story& story) {
        for (const auto& call : Calls{story.calls}) {
            if (call.outcome != Outcome::granted) continue;
            const auto begin = *call.returned + prng_.between(0, 3);
            const bool answered = !prng_.one_in(4);
            story.released(call.process, begin, begin + prng_.between(0, 3), call.token,
                           answered ? Outcome::released : Outcome::unknown);
            return;
        }
    }

    core::Prng prng_;
};

TEST(SmallHistories, AreJudgedAsByTryingEverything) {  // P2
    std::size_t explained = 0;
    constexpr std::size_t seeds = 20'000;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto calls = Drawing{seed}.small_history();
        const auto history = prepare(calls);
        if (!history.nonsense.empty()) continue;
        const bool expected = TryEverything{history}.explains({});
        explained += expected ? 1 : 0;
        std::string text;
        for (const auto& call : calls)
            text += to_line(call) + "\n";
        ASSERT_EQ(search(history).explained, expected) << "seed " << seed << "\n" << text;
    }
    EXPECT_GT(explained, seeds / 20);
    EXPECT_LT(explained, seeds * 19 / 20);
}

}  // namespace

}  // namespace mortise::check::test
