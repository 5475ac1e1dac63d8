#include <algorithm>
#include <utility>

#include "tests/check/made_history.hpp"

namespace mortise::check {

namespace {

using Place = std::size_t;

// Finds places for one fault, and inserts it there.
class Breaking {
public:
    Breaking(Calls& calls, core::Prng& prng) : calls_{calls}, prng_{prng} {}

    bool overlap() {
        return at_one_of(pairs([&](const Call& first, const Call& second) {
                             const auto* release = end_of(first, Operation::release);
                             return release != nullptr && release->invoked > *first.returned + 2 &&
                                    second.process != first.process;
                         }),
                         [&](Place first, Place second) {
                             const auto* release = end_of(calls_[first], Operation::release);
                             auto& early = calls_[second];
                             early.invoked = std::min(early.invoked, *calls_[first].returned + 1);
                             early.returned = release->invoked - 1;
                         });
    }

    bool token_twice() {
        return at_one_of(pairs([](const Call&, const Call&) { return true; }),
                         [&](Place first, Place second) {
                             const auto process = calls_[second].process;
                             const auto token = calls_[second].token;
                             for (auto& call : calls_) {
                                 if (call.process == process && call.token == token)
                                     call.token = calls_[first].token;
                             }
                         });
    }

    bool stranger_releases() {
        return at_release([&](Place release) { calls_[release].process = "stranger"; });
    }

    bool released_twice() {
        return at_release([&](Place release) {
            auto again = calls_[release];
            again.invoked = *again.returned + 1;
            again.returned = again.invoked + 1;
            calls_.push_back(std::move(again));
        });
    }

    bool release_missing() {
        const auto found = pairs([&](const Call& first, const Call&) {
            return end_of(first, Operation::release) != nullptr && !dies(first.process);
        });
        return at_one_of(found, [&](Place first, Place) {
            const auto* release = end_of(calls_[first], Operation::release);
            calls_.erase(calls_.begin() + (release - calls_.data()));
        });
    }

    bool busy_for_nobody() {
        Call call;
        call.process = "early";
        call.operation = Operation::try_acquire;
        call.name = calls_.front().name;
        call.invoked = -10;
        call.returned = -5;
        call.outcome = Outcome::busy;
        calls_.insert(calls_.begin(), std::move(call));
        return true;
    }

    bool lost_too_late() {
        const auto found = pairs([&](const Call& first, const Call&) {
            return end_of(first, Operation::lost) != nullptr;
        });
        return at_one_of(found, [&](Place first, Place second) {
            const auto* lost = end_of(calls_[first], Operation::lost);
            auto& late = calls_[static_cast<Place>(lost - calls_.data())];
            late.invoked = *calls_[second].returned + 1;
            late.returned = late.invoked;
        });
    }

private:
    using Pairs = std::vector<std::pair<Place, Place>>;

    static bool is_grant(const Call& call) {
        return asks(call) && call.outcome == Outcome::granted &&
               call.mode == core::LockMode::exclusive;
    }

    bool dies(const std::string& process) const {
        return std::ranges::any_of(calls_, [&](const Call& call) {
            return call.operation == Operation::died && call.process == process;
        });
    }

    // The end of a hold by such an operation; a release only if it was answered.
    const Call* end_of(const Call& grant, Operation operation) const {
        const auto found = std::ranges::find_if(calls_, [&](const Call& call) {
            return call.operation == operation && call.process == grant.process &&
                   call.token == grant.token && call.outcome != Outcome::unknown;
        });
        return found == calls_.end() ? nullptr : &*found;
    }

    // Pairs of successive exclusive grants of one name.
    template <class Fits>
    Pairs pairs(const Fits& fits) const {
        std::vector<Place> grants;
        for (Place i = 0; i < calls_.size(); ++i)
            if (is_grant(calls_[i])) grants.push_back(i);
        std::ranges::sort(grants, {}, [&](Place place) {
            return std::pair{calls_[place].name, calls_[place].token};
        });
        Pairs found;
        for (Place i = 1; i < grants.size(); ++i) {
            const auto& first = calls_[grants[i - 1]];
            const auto& second = calls_[grants[i]];
            if (first.name == second.name && fits(first, second))
                found.emplace_back(grants[i - 1], grants[i]);
        }
        return found;
    }

    template <class Change>
    bool at_one_of(const Pairs& found, const Change& change) {
        if (found.empty()) return false;
        const auto& [first, second] = found[prng_.below(found.size())];
        change(first, second);
        return true;
    }

    template <class Change>
    bool at_release(const Change& change) {
        std::vector<Place> found;
        for (const auto& grant : calls_) {
            if (!is_grant(grant)) continue;
            const auto* release = end_of(grant, Operation::release);
            if (release != nullptr) found.push_back(static_cast<Place>(release - calls_.data()));
        }
        if (found.empty()) return false;
        change(found[prng_.below(found.size())]);
        return true;
    }

    Calls& calls_;
    core::Prng& prng_;
};

}  // namespace

bool break_history(Calls& calls, Breakage breakage, core::Prng& prng) {
    Breaking breaking{calls, prng};
    switch (breakage) {
        case Breakage::overlap: return breaking.overlap();
        case Breakage::token_twice: return breaking.token_twice();
        case Breakage::stranger_releases: return breaking.stranger_releases();
        case Breakage::released_twice: return breaking.released_twice();
        case Breakage::release_missing: return breaking.release_missing();
        case Breakage::busy_for_nobody: return breaking.busy_for_nobody();
        case Breakage::lost_too_late: return breaking.lost_too_late();
    }
    return false;
}

}  // namespace mortise::check
