// A line of the log as a JSON object. The library has no other JSON.
#pragma once

#include <cstddef>
#include <string>

#include <mortise/config.hpp>

namespace mortise::detail {

// With the time and the level, which begin the line, this is less than a pipe takes in one piece:
// half a line would be no JSON.
inline constexpr std::size_t json_record_bytes_max = 4'000;

// `"node":1,"key":"leader_changed","message":"...","fields":{"leader":"2"}}`: the object was begun
// with the time and the level. "left_out" is there if lines were left out. A text that is too long
// is cut and ends with "..."; a field for which there is no room is left out. Values are escaped
// (escaped()).
[[nodiscard]] std::string json_record(const LogRecord& record);

}  // namespace mortise::detail
