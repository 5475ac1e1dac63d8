#include "core/locks/rows/clock_row.hpp"

#include "core/locks/rows/row_key.hpp"

namespace mortise::core {

std::string encode_mark(const ClockMark& mark) {
    auto out = begin_row();
    out.varint(mark.ms);
    return out.take();
}

std::optional<ClockMark> decode_mark(LogIndex index, std::string_view value) {
    auto in = open_row(value);
    const ClockMark mark{index, in.varint()};
    if (!in.done()) return std::nullopt;
    return mark;
}

}  // namespace mortise::core
