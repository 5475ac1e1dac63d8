#include "tests/sim/run/minimise.hpp"

#include <algorithm>
#include <utility>

namespace mortise::sim {

namespace {

constexpr std::uint64_t steps_min = 50;

// Names and numbers differ from run to run; the violated rule does not.
std::string rule_of(const RunResult& result) {
    return result.violation->what.substr(0, result.violation->what.find(':'));
}

class Search {
public:
    Search(Smallest found, const Runner& run)
        : found_{std::move(found)}, rule_{rule_of(found_.result)}, run_{run} {}

    Smallest smallest() {
        // Removing one kind may make another one removable, so this is repeated as long as it
        // helps.
        while (drop_faults()) {
        }
        drop_steps();
        return std::move(found_);
    }

private:
    bool drop_faults() {
        bool any = false;
        for (std::size_t i = 0; i < fault_count; ++i) {
            if (!found_.result.faults_on.test(i)) continue;
            auto fewer = found_.options;
            fewer.without.set(i);
            any = try_out(fewer) || any;
        }
        return any;
    }

    // Bisects: a shorter run that does not fail says nothing about a longer one.
    void drop_steps() {
        for (auto cut = found_.options.steps / 2; cut >= steps_min;) {
            auto shorter = found_.options;
            shorter.steps -= std::min(cut, shorter.steps);
            if (!try_out(shorter)) cut /= 2;
        }
    }

    bool try_out(const RunOptions& options) {
        ++found_.runs;
        auto result = run_(options);
        if (!result.violation || rule_of(result) != rule_) return false;
        found_.options = options;
        found_.result = std::move(result);
        return true;
    }

    Smallest found_;
    std::string rule_;
    const Runner& run_;
};

}  // namespace

std::optional<Smallest> minimise(const RunOptions& options, const Runner& run) {
    Smallest found{options, run(options), 1};
    if (!found.result.violation) return std::nullopt;
    return Search{std::move(found), run}.smallest();
}

}  // namespace mortise::sim
