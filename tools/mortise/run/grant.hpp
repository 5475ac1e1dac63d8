// What a command runs under: the hold of a lock, of permits or of a leadership, or those of several
// locks, which share one lease.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <mortise/boot_clock.hpp>
#include <mortise/duration.hpp>
#include <mortise/election.hpp>
#include <mortise/enums.hpp>
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>

namespace mortise::cli {

// The names of variables with their values.
using Variables = std::vector<std::pair<std::string, std::string>>;

// Released by its destructor, without waiting, unless give_back() was called.
class Grant {
public:
    Grant() = default;  // of nothing
    explicit Grant(Hold hold) : held_{std::move(hold)} {}
    // `names`: as they were asked for, which is the order of the variables.
    Grant(HoldSet holds, std::vector<std::string> names)
        : held_{std::move(holds)}, names_{std::move(names)} {}
    // From a campaign of that election.
    Grant(Election election, Hold hold) : held_{std::move(hold)}, election_{std::move(election)} {}

    [[nodiscard]] explicit operator bool() const;
    [[nodiscard]] Duration remaining() const;
    [[nodiscard]] BootClock::time_point valid_until() const;
    // A stop is requested when the first hold is lost.
    [[nodiscard]] std::stop_token lost() const;
    [[nodiscard]] LossReason why_lost() const;
    // In the order of the names.
    [[nodiscard]] std::vector<FencingToken> tokens() const;

    // What a command is told of its locks. The variables of the first lock are without a number.
    [[nodiscard]] Variables variables() const;

    // Releases everything and waits for that. What is lost needs no release.
    void give_back();

private:
    // In the order of the names; not empty.
    [[nodiscard]] std::vector<const Hold*> holds() const;

    std::variant<Hold, HoldSet> held_{};
    std::vector<std::string> names_{};  // of a set
    std::optional<Election> election_{};
};

}  // namespace mortise::cli
