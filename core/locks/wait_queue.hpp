// The waiters of one name, in log order, and kept apart by mode, so that who may go next is found
// by looking at the first of each mode and never by a walk through the queue.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/command.hpp"

namespace mortise::core {

// A place in the order of the log: the entry, and the command within its batch.
struct Ticket {
    LogIndex index;
    std::uint32_t place = 0;

    friend constexpr bool operator==(const Ticket&, const Ticket&) = default;
    friend constexpr auto operator<=>(const Ticket&, const Ticket&) = default;
};

struct Waiter {
    Ticket ticket;
    OperationId operation;
    LockMode mode = LockMode::exclusive;
    std::string label;
};

// A hold that waits to become exclusive. It goes before every waiter (S28), and there is at most
// one: only an update holder waits, and a name has but one of those.
struct Conversion {
    Ticket ticket;
    OperationId operation;  // the Upgrade
    Seq hold;               // of the same session
};

class WaitQueue {
public:
    [[nodiscard]] const std::optional<Conversion>& conversion() const { return conversion_; }
    // Requires that there is none.
    void add(const Conversion& conversion);
    // Requires that there is one.
    Conversion remove_conversion();

    void add(Waiter waiter);
    // Requires a waiter with that ticket and mode.
    Waiter remove(Ticket ticket, LockMode mode);
    // Takes out every waiter that `leaves`, in one pass. Asks once for each, the conversion first,
    // the others in no special order.
    template <class Leaves>
    void remove_if(const Leaves& leaves);

    [[nodiscard]] bool is_empty() const { return size_ == 0 && !conversion_; }
    // The conversion is not counted, and is none of those below.
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool has_readers() const { return oldest(false) != nullptr; }

    [[nodiscard]] const Waiter* oldest() const;
    [[nodiscard]] const Waiter* oldest(bool writer) const;
    [[nodiscard]] const Waiter* oldest(LockMode mode) const;
    // The oldest reader behind `after` in a mode that `fits`.
    template <class Fits>
    [[nodiscard]] const Waiter* next_reader(Ticket after, const Fits& fits) const;
    // True when nobody older than it wants a mode that conflicts with this one's.
    [[nodiscard]] bool is_free_of_older(const Waiter& waiter) const;
    // All, oldest first: for listings.
    [[nodiscard]] std::vector<const Waiter*> in_order() const;

private:
    using Line = std::map<Ticket, Waiter>;

    std::optional<Conversion> conversion_;
    std::array<Line, lock_modes> lines_;
    std::size_t size_ = 0;
};

template <class Leaves>
void WaitQueue::remove_if(const Leaves& leaves) {
    if (conversion_ && leaves(conversion_->operation)) conversion_.reset();
    for (auto& line : lines_)
        size_ -=
            std::erase_if(line, [&](const auto& place) { return leaves(place.second.operation); });
}

template <class Fits>
const Waiter* WaitQueue::next_reader(Ticket after, const Fits& fits) const {
    const Waiter* next = nullptr;
    for (const auto mode : all_lock_modes) {
        if (is_writer(mode) || !fits(mode)) continue;
        const auto& line = lines_[static_cast<std::size_t>(mode)];
        const auto found = line.upper_bound(after);
        if (found == line.end()) continue;
        if (next == nullptr || found->second.ticket < next->ticket) next = &found->second;
    }
    return next;
}

}  // namespace mortise::core
