// Encodings of fields that all byte formats share, based on ByteWriter and ByteReader.
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"

namespace mortise::core {

template <class Enum>
void put_enum(ByteWriter& out, Enum value) {
    out.u8(static_cast<std::uint8_t>(value));
}

// `last` is the highest value known.
template <class Enum>
Enum get_enum(ByteReader& in, Enum last) {
    const auto number = in.u8();
    if (number > static_cast<std::uint8_t>(last)) {
        in.fail();
        return {};
    }
    return static_cast<Enum>(number);
}

inline void put_flag(ByteWriter& out, bool flag) {
    out.u8(flag ? 1 : 0);
}

inline bool get_flag(ByteReader& in) {
    const auto flag = in.u8();
    if (flag > 1) in.fail();
    return flag == 1;
}

// An id that must be set.
template <class AnyId>
AnyId get_id(ByteReader& in) {
    const AnyId id{in.varint()};
    if (!id.is_set()) in.fail();
    return id;
}

}  // namespace mortise::core
