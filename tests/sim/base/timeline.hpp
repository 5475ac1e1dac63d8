// The events of a run for a person: decisions and faults, not every message. The last lines are
// kept; with `watched` all of them are printed. A line is formatted only when it is shown.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "tests/sim/base/event_heap.hpp"

namespace mortise::sim {

class Timeline {
public:
    // With `watched`, every line is printed there at once.
    explicit Timeline(const EventHeap& heap, std::FILE* watched = nullptr)
        : heap_{heap}, watched_{watched} {}

    // `text` is a literal with a {} for each number. The node may be unset.
    void say(core::NodeId node, const char* text, std::uint64_t a = 0, std::uint64_t b = 0);

    [[nodiscard]] bool is_watched() const { return watched_ != nullptr; }
    // Oldest first.
    [[nodiscard]] std::vector<std::string> last_lines() const;

private:
    struct Line {
        SimTime time = 0;
        core::NodeId node;
        const char* text = "";
        std::uint64_t a = 0;
        std::uint64_t b = 0;
    };
    static std::string in_words(const Line& line);

    static constexpr std::size_t lines_kept_ = 30;

    const EventHeap& heap_;
    std::FILE* watched_;
    std::vector<Line> lines_;
    std::size_t next_ = 0;
};

[[nodiscard]] std::string show_time(SimTime time);

}  // namespace mortise::sim
