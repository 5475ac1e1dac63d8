// The newest changes of names, for the observers of this node (S46). It keeps as many as its limits
// allow; an observer that needs an older one begins anew with the present state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/locks/name_change.hpp"
#include "core/observe/position.hpp"

namespace mortise::core {

class ChangeRing {
public:
    struct Limits {
        std::size_t changes = 16'384;               // a power of two
        std::size_t bytes = std::size_t{4} << 20U;  // of names, labels and values
    };
    struct Entry {
        Position position;
        NameChange change;
    };

    // It knows no change up to `applied`.
    explicit ChangeRing(LogIndex applied) : ChangeRing{applied, Limits{}} {}
    ChangeRing(LogIndex applied, Limits limits);

    // The next entry was applied, with these changes. Takes them, and leaves others in their place,
    // whose memory is to be used again.
    void add(LogIndex applied, std::span<NameChange> changes);
    // The state was replaced: nothing before is known.
    void restart(LogIndex applied);
    // The changes are those of the cluster with this mark (ClusterId::mark()). Known before any.
    void belongs_to(std::uint32_t cluster) { cluster_ = cluster; }

    [[nodiscard]] LogIndex applied() const { return applied_; }
    // Zero while this node is in no cluster.
    [[nodiscard]] std::uint32_t cluster() const { return cluster_; }
    // Everything that was applied.
    [[nodiscard]] Position end() const { return Position::after(applied_, cluster_); }
    // Whether every change after that position is here, or comes later.
    [[nodiscard]] bool has_all_after(Position position) const { return position >= forgotten_; }
    // The number of changes that are here, oldest first.
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const Entry& operator[](std::size_t at) const { return slots_[slot_of(at)]; }
    // The first change after that position; size() if there is none.
    [[nodiscard]] std::size_t first_after(Position position) const;

private:
    [[nodiscard]] std::size_t slot_of(std::size_t at) const {
        return (head_ + at) & (slots_.size() - 1);
    }
    void add_one(Position position, NameChange& change);
    void drop_oldest();
    void grow();

    Limits limits_;
    LogIndex applied_;
    std::uint32_t cluster_ = 0;
    Position forgotten_;        // the newest change that is not here
    std::vector<Entry> slots_;  // their number is a power of two
    std::size_t head_ = 0;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace mortise::core
