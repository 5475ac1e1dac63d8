#include "core/observe/change_ring.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t slots_min = 16;
constexpr std::size_t kept_bytes_max = 64;  // what a text keeps for the next one in its place

std::size_t bytes_of(const NameChange& change) {
    return change.name.size() + change.label.size() + change.locker.label.size() +
           change.bytes.size() + change.slots.size() * sizeof change.slots[0];
}

// Otherwise the slots would keep more than the limit.
void give_back_much(std::string& text) {
    if (text.capacity() > kept_bytes_max) std::string{}.swap(text);
}

}  // namespace

ChangeRing::ChangeRing(LogIndex applied, Limits limits)
    : limits_{limits}, applied_{applied}, forgotten_{Position::after(applied)} {
    MORTISE_CHECK(std::has_single_bit(limits_.changes));
}

void ChangeRing::add(LogIndex applied, std::span<NameChange> changes) {
    MORTISE_CHECK(applied == applied_.next());
    applied_ = applied;
    std::uint32_t ordinal = 0;
    for (auto& change : changes)
        add_one({applied, ++ordinal, cluster_}, change);
}

void ChangeRing::add_one(Position position, NameChange& change) {
    if (size_ == limits_.changes) drop_oldest();
    if (size_ == slots_.size()) grow();
    auto& slot = slots_[slot_of(size_)];
    slot.position = position;
    std::swap(slot.change, change);
    ++size_;
    bytes_ += bytes_of(slot.change);
    while (bytes_ > limits_.bytes)
        drop_oldest();
}

void ChangeRing::drop_oldest() {
    MORTISE_CHECK(size_ != 0);
    auto& oldest = slots_[head_];
    forgotten_ = oldest.position;
    bytes_ -= bytes_of(oldest.change);
    for (auto* text : {&oldest.change.name, &oldest.change.label, &oldest.change.locker.label,
                       &oldest.change.bytes})
        give_back_much(*text);
    oldest.change.slots = {};
    head_ = slot_of(1);
    --size_;
}

void ChangeRing::grow() {
    std::vector<Entry> larger(std::max(slots_min, 2 * slots_.size()));
    for (std::size_t at = 0; at < size_; ++at)
        larger[at] = std::move(slots_[slot_of(at)]);
    slots_ = std::move(larger);
    head_ = 0;
}

void ChangeRing::restart(LogIndex applied) {
    const auto cluster = cluster_;
    *this = ChangeRing{applied, limits_};
    cluster_ = cluster;
}

std::size_t ChangeRing::first_after(Position position) const {
    std::size_t first = 0;
    for (auto left = size_; left > 0;) {
        const auto half = left / 2;
        if ((*this)[first + half].position <= position) {
            first += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return first;
}

}  // namespace mortise::core
