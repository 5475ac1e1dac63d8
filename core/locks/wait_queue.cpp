#include "core/locks/wait_queue.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"

namespace mortise::core {

void WaitQueue::add(const Conversion& conversion) {
    MORTISE_CHECK(!conversion_);
    conversion_ = conversion;
}

Conversion WaitQueue::remove_conversion() {
    MORTISE_CHECK(conversion_);
    return *std::exchange(conversion_, std::nullopt);
}

void WaitQueue::add(Waiter waiter) {
    auto& line = lines_[static_cast<std::size_t>(waiter.mode)];
    const auto ticket = waiter.ticket;
    const bool added = line.emplace(ticket, std::move(waiter)).second;
    MORTISE_CHECK(added);
    ++size_;
}

Waiter WaitQueue::remove(Ticket ticket, LockMode mode) {
    auto& line = lines_[static_cast<std::size_t>(mode)];
    auto node = line.extract(ticket);
    MORTISE_CHECK(!node.empty());
    --size_;
    return std::move(node.mapped());
}

const Waiter* WaitQueue::oldest(LockMode mode) const {
    const auto& line = lines_[static_cast<std::size_t>(mode)];
    return line.empty() ? nullptr : &line.begin()->second;
}

const Waiter* WaitQueue::oldest(bool writer) const {
    const Waiter* first = nullptr;
    for (const auto mode : all_lock_modes) {
        if (is_writer(mode) != writer) continue;
        const auto* candidate = oldest(mode);
        if (candidate == nullptr) continue;
        if (first == nullptr || candidate->ticket < first->ticket) first = candidate;
    }
    return first;
}

const Waiter* WaitQueue::oldest() const {
    const auto* writer = oldest(true);
    const auto* reader = oldest(false);
    if (writer == nullptr || reader == nullptr) return writer != nullptr ? writer : reader;
    return writer->ticket < reader->ticket ? writer : reader;
}

bool WaitQueue::is_free_of_older(const Waiter& waiter) const {
    if (planted(Mutant::newcomer_overtakes)) return true;
    return std::ranges::none_of(all_lock_modes, [&](LockMode mode) {
        const auto* first = oldest(mode);
        return first != nullptr && first->ticket < waiter.ticket && conflict(mode, waiter.mode);
    });
}

std::vector<const Waiter*> WaitQueue::in_order() const {
    std::vector<const Waiter*> all;
    all.reserve(size_);
    for (const auto& line : lines_) {
        const auto before = static_cast<std::ptrdiff_t>(all.size());
        for (const auto& [ticket, waiter] : line)
            all.push_back(&waiter);
        std::ranges::inplace_merge(all, all.begin() + before, {}, &Waiter::ticket);
    }
    return all;
}

}  // namespace mortise::core
