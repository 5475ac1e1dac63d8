// Who leads, as an observer of the name knows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "embed/values/published.hpp"
#include <mortise/election.hpp>
#include <mortise/observe.hpp>

namespace mortise::detail {

// The leader, if that hold is exclusive and has written those bytes.
[[nodiscard]] std::optional<Leader> leader_of(const HolderInfo& holder, std::string_view bytes);

class LeaderView {
public:
    using Told = std::optional<Leader>;

    // What the program is to be told after this event of the name; empty if it knows that.
    [[nodiscard]] std::optional<Told> take(const Event& event);

private:
    void on(const Event& event);

    bool is_complete_ = false;
    std::optional<HolderInfo> holder_;  // exclusive
    std::string bytes_;                 // of the value
    std::optional<Told> told_;
};

}  // namespace mortise::detail
