// The codes of the C interface.
#pragma once

#include <span>
#include <system_error>

namespace mortise::capi {

struct NamedCode {
    int code;
    const char* name;
};

[[nodiscard]] std::span<const NamedCode> all_codes() noexcept;
// The code for an error of the library.
[[nodiscard]] int code_of(std::error_code ec) noexcept;
// The errno value of an error of the system; 0 for any other.
[[nodiscard]] int system_value(std::error_code ec) noexcept;

}  // namespace mortise::capi
