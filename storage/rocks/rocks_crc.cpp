#include "storage/rocks/rocks_crc.hpp"

#include <array>

namespace mortise::storage {

namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    constexpr std::uint32_t castagnoli = 0x82f63b78U;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        auto crc = i;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? castagnoli : 0U);
        table[i] = crc;
    }
    return table;
}

std::uint32_t crc32c(std::string_view bytes) {
    static constexpr auto table = make_crc_table();
    std::uint32_t crc = ~0U;
    for (const char byte : bytes)
        crc = (crc >> 8U) ^ table.at((crc ^ static_cast<unsigned char>(byte)) & 0xffU);
    return ~crc;
}

}  // namespace

std::uint32_t stored_crc32c(std::string_view bytes) {
    const auto crc = crc32c(bytes);
    return ((crc >> 15U) | (crc << 17U)) + 0xa282ead8U;
}

}  // namespace mortise::storage
