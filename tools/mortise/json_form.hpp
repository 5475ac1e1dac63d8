// What --json prints.
#pragma once

#include <iostream>

#include "embed/json_form/json_form.hpp"

namespace mortise::cli {

using json_form::hexadecimal;
using json_form::Json;
using json_form::json_list;
using json_form::json_of;
using json_form::json_text;
using json_form::leader_value;

// With the bytes of values. A list has none: the cluster does not answer it with them.
inline constexpr json_form::Detail with_values{.value_bytes = true};

inline void print(const Json& json) {
    std::cout << json.dump(2) << '\n';
}

}  // namespace mortise::cli
