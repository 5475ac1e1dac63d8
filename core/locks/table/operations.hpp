// The operations of one session: an Acquire that waits or is granted, or an Upgrade that waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/paged_set.hpp"
#include "core/locks/table/named_record.hpp"
#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

// Most operations are holds of one name, of which nothing has to be known but the name.
class Operation {
public:
    // What only few have.
    struct More {
        bool held = false;
        Ticket ticket{};  // while it waits
        Seq upgrades{};   // the hold that an Upgrade waits for
        std::uint64_t locker = 0;
        bool is_bounded = false;  // has a max_hold (S8)
        bool is_try = false;      // see Waiter
    };

    Operation() { (void)new (&here_) RecordRef; }
    // The names ascend.
    Operation(RecordRefs names, const More& more);
    Operation(Operation&& other) noexcept : here_{other.here_} {
        (void)new (&other.here_) RecordRef;
    }
    Operation& operator=(Operation&& other) noexcept {
        std::swap(here_, other.here_);
        return *this;
    }
    ~Operation();

    [[nodiscard]] std::span<const RecordRef> names() const {
        if (const auto* its = rare()) return {its->names.begin(), its->names.end()};
        return {&name_or_null(), name_or_null() ? 1U : 0U};
    }
    [[nodiscard]] std::string_view name() const { return names().front()->name(); }
    [[nodiscard]] bool held() const { return more().held; }
    [[nodiscard]] Ticket ticket() const { return more().ticket; }
    [[nodiscard]] Seq upgrades() const { return more().upgrades; }
    [[nodiscard]] std::uint64_t locker() const { return more().locker; }
    [[nodiscard]] bool is_bounded() const { return more().is_bounded; }
    [[nodiscard]] bool is_try() const { return more().is_try; }
    [[nodiscard]] const More& more() const;

    // It waits no longer, and holds these of its names.
    void grant(RecordRefs names);
    void set_locker(std::uint64_t locker);
    // Requires that it has no such name yet, and that the name comes after all others.
    void add_name(const RecordRef& name);
    // False if it has no such name.
    bool remove_name(std::string_view name);

private:
    struct Rare {
        More more;
        RecordRefs names;
    };
    static constexpr std::uintptr_t rare_mark = 1;  // no address of a record or a Rare has this bit

    void set(RecordRefs names, const More& more);
    void clear();
    // Null if nothing has to be known but the name.
    [[nodiscard]] Rare* rare() const {
        std::uintptr_t bits = 0;
        std::memcpy(&bits, &here_, sizeof bits);
        return (bits & rare_mark) != 0 ? reinterpret_cast<Rare*>(bits - rare_mark) : nullptr;
    }
    [[nodiscard]] const RecordRef& name_or_null() const {
        return *std::launder(reinterpret_cast<const RecordRef*>(&here_));
    }

    // A RecordRef, or a marked address of a Rare: there may be millions of holds.
    struct alignas(RecordRef) Here {
        std::array<std::byte, sizeof(RecordRef)> bytes;
    };
    Here here_;
};

class Operations {
public:
    using Entries = PagedMap<Seq, Operation>;

    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    // Null if there is none. Valid until one is added or removed.
    [[nodiscard]] const Operation* find(Seq seq) const {
        const auto* found = entries_.find(seq);
        return found == nullptr ? nullptr : &found->value;
    }
    [[nodiscard]] Operation* find(Seq seq) {
        return const_cast<Operation*>(std::as_const(*this).find(seq));
    }
    // It must exist.
    [[nodiscard]] Operation& at(Seq seq);
    [[nodiscard]] bool holds(Seq seq) const {
        const auto* found = find(seq);
        return found != nullptr && found->held();
    }
    [[nodiscard]] bool waits(Seq seq) const {
        const auto* found = find(seq);
        return found != nullptr && !found->held();
    }
    // There must be none with that number.
    void add(Seq seq, Operation operation) { entries_.insert({seq, std::move(operation)}); }
    // It must exist.
    Operation take(Seq seq) { return entries_.take(seq).value; }

    // Ascending by number.
    [[nodiscard]] Entries::const_iterator begin() const { return entries_.begin(); }
    [[nodiscard]] Entries::const_iterator end() const { return entries_.end(); }

private:
    Entries entries_;
};

}  // namespace mortise::core
