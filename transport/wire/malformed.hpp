#pragma once

#include <system_error>
#include <type_traits>

namespace mortise::transport {

// What is wrong with a received message.
enum class Malformed {
    unknown_kind = 1,  // an enum or a union has a value that this version does not know
    bad_number,        // an invalid zero, or a number out of range
    too_long,          // bytes
    too_many,          // list elements
    bad_order,         // of a list
    bad_text,          // invalid bytes
    bad_pointer,       // reported by Cap'n Proto
};

[[nodiscard]] const std::error_category& malformed_category();
[[nodiscard]] std::error_code make_error_code(Malformed malformed);

}  // namespace mortise::transport

template <>
struct std::is_error_code_enum<mortise::transport::Malformed> : std::true_type {};
