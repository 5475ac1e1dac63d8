#pragma once

#include <system_error>
#include <type_traits>

namespace mortise::transport {

// What is wrong with a message that was received.
enum class Malformed {
    unknown_kind = 1,  // an enum or a union has a value that this version does not know
    bad_number,        // a zero that must not be one, or a number out of range
    too_long,          // bytes
    too_many,          // list elements
    bad_order,         // of a list
    bad_text,          // bytes that may not be there
    bad_pointer,       // Cap'n Proto's own complaint
};

[[nodiscard]] const std::error_category& malformed_category();
[[nodiscard]] std::error_code make_error_code(Malformed malformed);

}  // namespace mortise::transport

template <>
struct std::is_error_code_enum<mortise::transport::Malformed> : std::true_type {};
