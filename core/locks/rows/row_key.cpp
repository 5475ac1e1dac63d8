#include "core/locks/rows/row_key.hpp"

namespace mortise::core {

std::string row_key(RowKind kind, std::string_view name) {
    std::string key(1, static_cast<char>(kind));
    key.append(name);
    return key;
}

std::string row_key(RowKind kind, std::uint64_t id) {
    std::string key(1, static_cast<char>(kind));
    for (unsigned shift = 64; shift > 0;)
        key.push_back(static_cast<char>(id >> (shift -= 8)));
    return key;
}

std::optional<std::uint64_t> id_of_row(std::string_view key) {
    if (key.size() != 1 + sizeof(std::uint64_t)) return std::nullopt;
    std::uint64_t id = 0;
    for (const char byte : key.substr(1))
        id = (id << 8U) | static_cast<unsigned char>(byte);
    if (id == 0) return std::nullopt;
    return id;
}

ByteWriter begin_row() {
    ByteWriter out;
    out.u8(row_format);
    return out;
}

ByteReader open_row(std::string_view value) {
    ByteReader in{value};
    if (in.u8() != row_format) in.fail();
    return in;
}

}  // namespace mortise::core
