#pragma once

#include <string>
#include <string_view>

#include <mortise/fencing_token.hpp>

namespace mortise::detail {

// What is stored with the name of an election: the token of the leader, a blank, its value.
[[nodiscard]] inline std::string published(FencingToken token, std::string_view value) {
    auto bytes = token.to_string();
    bytes += ' ';
    bytes += value;
    return bytes;
}

}  // namespace mortise::detail
