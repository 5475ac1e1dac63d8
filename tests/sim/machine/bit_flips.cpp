// Damage to data that is on the platter. Entries carry their checksum; rows are sealed with one
// when they are written, which is calculated here only for the rows that need it.
#include <algorithm>
#include <iterator>

#include "core/base/checksum.hpp"
#include "tests/sim/machine/sim_disk.hpp"

namespace mortise::sim {

namespace {

std::uint64_t seal_of(const std::string& value) {
    core::Checksum sum;
    sum.text(value);
    return sum.value();
}

void flip_in(std::string& bytes, core::Prng& prng) {
    auto& byte = bytes[static_cast<std::size_t>(prng.below(bytes.size()))];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << prng.below(8)));
}

}  // namespace

bool SimDisk::flip_bit() {
    const bool done = prng_.one_in(2) ? flip_bit_of_entry() || flip_bit_of_row()
                                      : flip_bit_of_row() || flip_bit_of_entry();
    may_be_damaged_ = may_be_damaged_ || done;
    return done;
}

bool SimDisk::flip_bit_of_entry() {
    if (platter_.entries.empty()) return false;
    auto& entry = platter_.entries[static_cast<std::size_t>(prng_.below(platter_.entries.size()))];
    if (!core::has_commands(entry.kind)) return false;
    std::string bytes{entry.payload.view()};
    flip_in(bytes, prng_);
    entry.payload = core::Bytes{std::move(bytes)};
    return true;
}

bool SimDisk::flip_bit_of_row() {
    if (platter_.rows.empty()) return false;
    const auto row = std::next(platter_.rows.begin(),
                               static_cast<std::ptrdiff_t>(prng_.below(platter_.rows.size())));
    if (row->second.empty()) return false;
    platter_.seals.emplace(row->first, seal_of(row->second));
    flip_in(row->second, prng_);
    return true;
}

bool SimDisk::are_rows_sound() const {
    return std::ranges::all_of(platter_.seals, [&](const auto& sealed) {
        const auto row = platter_.rows.find(sealed.first);
        return row == platter_.rows.end() || seal_of(row->second) == sealed.second;
    });
}

bool SimDisk::is_damaged() const {
    return !are_rows_sound() || !std::ranges::all_of(platter_.entries, core::is_intact);
}

}  // namespace mortise::sim
