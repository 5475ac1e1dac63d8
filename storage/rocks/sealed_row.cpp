#include "storage/rocks/sealed_row.hpp"

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"

namespace mortise::storage {

namespace {

constexpr std::size_t seal_bytes = 8;

std::uint64_t checksum_of(std::string_view key, std::string_view content) {
    core::Checksum sum;
    sum.text(key);
    sum.text(content);
    return sum.value();
}

}  // namespace

std::string seal(std::string_view key, std::string content) {
    core::ByteWriter sum;
    sum.u64(checksum_of(key, content));
    return std::move(content) + sum.take();
}

std::optional<std::string_view> unseal(std::string_view key, std::string_view row) {
    if (row.size() < seal_bytes) return std::nullopt;
    const auto content = row.substr(0, row.size() - seal_bytes);
    core::ByteReader sum{row.substr(content.size())};
    const bool is_right = sum.u64() == checksum_of(key, content);
    if (!is_right) return std::nullopt;
    return content;
}

}  // namespace mortise::storage
