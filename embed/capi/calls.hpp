// What every function of the C interface does at its border: exceptions become codes.
#pragma once

#include <cstddef>
#include <string>
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

// The object of the caller; `what` says that it is NULL.
template <class T>
[[nodiscard]] T& existing(T* object, const char* what) {
    require(object != nullptr, what);
    return *object;
}

// For mortise_bytes_free().
[[nodiscard]] inline char* copy_of(std::string_view bytes) {
    auto* const copy = new char[bytes.size() + 1];
    bytes.copy(copy, bytes.size());
    copy[bytes.size()] = '\0';
    return copy;
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

// The frame of a call that returns yes or no; `what` says that the output is NULL.
template <class Ask>
[[nodiscard]] int answered(int* outcome, mortise_error** error, const char* what,
                           const Ask& ask) noexcept {
    if (outcome != nullptr) *outcome = 0;
    return guarded(error, [&] {
        require(outcome != nullptr, what);
        *outcome = ask() ? 1 : 0;
    });
}

// The frame of a call that returns bytes; `ask` says which.
template <class Ask>
[[nodiscard]] int give_bytes(char** bytes, std::size_t* length, mortise_error** error,
                             const Ask& ask) noexcept {
    clear(bytes);
    if (length != nullptr) *length = 0;
    return guarded(error, [&] {
        require(bytes != nullptr && length != nullptr, "bytes or length is NULL");
        const std::string said = ask();
        *bytes = copy_of(said);
        *length = said.size();
    });
}

}  // namespace mortise::capi
