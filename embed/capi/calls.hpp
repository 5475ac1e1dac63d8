// What every function of the C interface does at its border: exceptions become codes.
#pragma once

#include <cstddef>
#include <string_view>

#include <mortise.h>

#include "embed/capi/error.hpp"

namespace mortise::capi {

inline void require(bool holds, const char* what) {
    if (!holds) throw Misuse{what};
}

// A string of the caller; `what` says what is wrong with a null pointer.
[[nodiscard]] inline std::string_view text(const char* data, std::size_t length, const char* what) {
    require(data != nullptr || length == 0, what);
    return length == 0 ? std::string_view{} : std::string_view{data, length};
}

// An output, which is empty unless the call succeeds.
template <class T>
void clear(T** output) noexcept {
    if (output != nullptr) *output = nullptr;
}

template <class Body>
[[nodiscard]] int guarded(mortise_error** error, const Body& body) noexcept {
    clear(error);
    try {
        body();
        return MORTISE_OK;
    } catch (...) {
        return report_exception(error);
    }
}

// For functions that return a value and have no error: `otherwise` when `body` throws.
template <class T, class Body>
[[nodiscard]] T value_or(T otherwise, const Body& body) noexcept {
    try {
        return body();
    } catch (...) {
        return otherwise;
    }
}

}  // namespace mortise::capi
