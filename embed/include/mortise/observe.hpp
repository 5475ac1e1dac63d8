// The changes of locks, as Node::observe() reports them.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mortise/enums.hpp>
#include <mortise/info.hpp>

namespace mortise {

namespace detail {
struct PositionParts;
}

// A place in the stream of changes, the same on every node of a cluster. It may be stored as text.
// It says whose stream it is: an observer that comes with it to another cluster, also to one that
// was begun anew under the same name, is told a gap and the present state. In the texts of 0.2 that
// is missing; they are read as before.
class Position {
public:
    constexpr Position() noexcept = default;  // not set: an observer begins with the present state

    [[nodiscard]] constexpr bool is_set() const noexcept { return entry_ != 0; }
    // A short text of digits and dots.
    [[nodiscard]] std::string to_string() const;
    // Empty if it is not a text that to_string() returns.
    [[nodiscard]] static std::optional<Position> from_string(std::string_view text) noexcept;

    // The order within one cluster. Positions of different clusters have none.
    friend constexpr bool operator==(const Position& a, const Position& b) noexcept {
        return a.entry_ == b.entry_ && a.change_ == b.change_;
    }
    friend constexpr std::strong_ordering operator<=>(const Position& a,
                                                      const Position& b) noexcept {
        const auto by_entry = a.entry_ <=> b.entry_;
        return by_entry != 0 ? by_entry : a.change_ <=> b.change_;
    }

private:
    friend struct detail::PositionParts;

    std::uint64_t entry_ = 0;
    std::uint32_t change_ = 0;
    std::uint32_t cluster_ = 0;
};

// What an observer is told. Changes are those that the cluster decided, each once and in order,
// also if a hold begins and ends at once. What a node does with a grant in its cache
// (AcquireOptions::caching) is no change.
struct Event {
    enum class Kind : std::uint8_t {
        // Nothing that was told before counts any more: the present state follows. It is the first
        // event without ObserveOptions::from. Later it comes when changes were missed: the position
        // is too old, the sink was too slow, or the node was far behind the others.
        gap,
        // A part of the present state: `name`, `holders`, `value`. Names that are not told have
        // neither. A name that changes meanwhile is told again, and the later event replaces the
        // earlier one; it may have neither any more.
        state,
        state_complete,    // from here on changes are told
        granted,           // `holder`
        converted,         // `holder` has another mode, and after an upgrade another token
        published,         // `holder`, which was cached, is an ordinary one, with this token
        released,          // `holder` has ended as `how` says
        value_set,         // `value`, written by `holder`
        value_removed,     // by `holder`, which is empty if Node::remove() did it
        value_dirty,       // `holder` was lost, perhaps in the middle of a change of the value
        value_consistent,  // `holder` has declared that the value is consistent
    };

    Kind kind = Kind::gap;
    // Pass it as ObserveOptions::from to continue after this event, on any node. It is not set for
    // `gap` and `state`, because a part of a state is nothing from which one could continue.
    Position position{};
    std::string name{};
    // `node` is 0 if the session of the hold had ended before.
    HolderInfo holder{};
    Predecessor how = Predecessor::none;
    std::vector<HolderInfo> holders{};  // oldest first
    std::optional<LockValue> value{};

    friend bool operator==(const Event&, const Event&) = default;
};

// The name of the enumerator; "unknown" for any other value.
[[nodiscard]] std::string_view to_string(Event::Kind kind) noexcept;

// It is an aggregate: name the members that you set. New members are added at the end.
struct ObserveOptions {
    // Continue after this position. Absent: begin with the present state. If this node has not
    // reached the position yet, it waits until it has. A position of another cluster, or beyond the
    // end of the log of this one, is answered with a gap and the present state.
    std::optional<Position> from{};
    bool only_this_name = false;  // observe one name instead of all with that prefix
};

// Called on a thread of the node, one call at a time and in order. It may block: then it gets later
// events late, and when it has missed some, a gap. It must not throw; exceptions are dropped.
using EventSink = std::function<void(const Event&)>;

}  // namespace mortise
