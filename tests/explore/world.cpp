#include "tests/explore/world.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "core/base/checksum.hpp"

namespace mortise::explore {

namespace {

constexpr std::size_t chunk_words = std::size_t{1} << 22U;
constexpr std::size_t head_words = 1 + cluster_size + 1 + sizeof(Budget) / sizeof(Number);

// The first word is the number of packets.
std::vector<Number> pack(const World& world) {
    std::vector<Number> packed;
    packed.reserve(head_words + world.packets.size());
    packed.push_back(static_cast<Number>(world.packets.size()));
    packed.insert(packed.end(), world.machines.begin(), world.machines.end());
    packed.push_back(world.history);
    using Words = std::array<Number, sizeof(Budget) / sizeof(Number)>;
    const auto left = std::bit_cast<Words>(world.left);
    packed.insert(packed.end(), left.begin(), left.end());
    packed.insert(packed.end(), world.packets.begin(), world.packets.end());
    return packed;
}

std::uint64_t hash_of(const Number* words, std::size_t count) {
    core::Checksum sum;
    // A view of the words as they are in memory, which is compared within one run only.
    sum.text({reinterpret_cast<const char*>(words), count * sizeof(Number)});
    return sum.value();
}

std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32U);
}

}  // namespace

void World::send(Number packet) {
    const auto place = std::ranges::lower_bound(packets, packet);
    if (place == packets.end() || *place != packet) packets.insert(place, packet);
}

void World::take(Number packet) {
    packets.erase(std::ranges::lower_bound(packets, packet));
}

WorldStore::WorldStore() : slots_(std::size_t{1} << 16U) {}

const Number* WorldStore::words(Number number) const {
    const auto at = entries_[number].words_at;
    return chunks_[at / chunk_words].get() + at % chunk_words;
}

World WorldStore::operator[](Number number) const {
    const auto* word = words(number);
    World world;
    const auto packets = *word++;
    for (auto& machine : world.machines)
        machine = *word++;
    world.history = *word++;
    std::array<Number, sizeof(Budget) / sizeof(Number)> left{};
    for (auto& part : left)
        part = *word++;
    world.left = std::bit_cast<Budget>(left);
    world.packets.assign(word, word + packets);
    return world;
}

bool WorldStore::add(const World& world, Number from, const Move& move) {
    const auto packed = pack(world);
    const auto hash = hash_of(packed.data(), packed.size());
    auto at = static_cast<std::size_t>(hash) & (slots_.size() - 1);
    for (; slots_[at].number != 0; at = (at + 1) & (slots_.size() - 1)) {
        if (slots_[at].tag != tag_of(hash)) continue;
        if (std::equal(packed.begin(), packed.end(), words(slots_[at].number - 1))) return false;
    }
    entries_.push_back({keep(packed), from, move});
    slots_[at] = {static_cast<Number>(entries_.size()), tag_of(hash)};
    if (entries_.size() * 4 > slots_.size() * 3) grow();
    return true;
}

std::uint64_t WorldStore::keep(const std::vector<Number>& packed) {
    if (chunks_.empty() || chunk_used_ + packed.size() > chunk_words) {
        chunks_.push_back(std::make_unique<Number[]>(chunk_words));
        chunk_used_ = 0;
    }
    std::ranges::copy(packed, chunks_.back().get() + chunk_used_);
    const auto at = (chunks_.size() - 1) * chunk_words + chunk_used_;
    chunk_used_ += packed.size();
    return at;
}

std::size_t WorldStore::free_slot(std::uint64_t hash) const {
    auto at = static_cast<std::size_t>(hash) & (slots_.size() - 1);
    while (slots_[at].number != 0)
        at = (at + 1) & (slots_.size() - 1);
    return at;
}

void WorldStore::grow() {
    const auto size = slots_.size() * 2;
    slots_.assign(size, {});
    for (Number number = 0; number < entries_.size(); ++number) {
        const auto* word = words(number);
        const auto hash = hash_of(word, head_words + *word);
        slots_[free_slot(hash)] = {number + 1, tag_of(hash)};
    }
}

}  // namespace mortise::explore
