#include "embed/capi/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <mortise.h>

#include "embed/capi/codes.hpp"

namespace mortise::capi {
namespace {

// One for each code; they own no memory, so that they can be made when there is none.
mortise_error* static_error(int code) noexcept {
    constexpr std::size_t codes_max = 64;
    static std::array<mortise_error, codes_max> errors = [] {
        std::array<mortise_error, codes_max> made;
        for (std::size_t i = 0; i < all_codes().size() && i < made.size(); ++i)
            made[i].code = all_codes()[i].code;
        for (auto& error : made)
            error.is_static = true;
        return made;
    }();
    const auto found = std::ranges::find(errors, code, &mortise_error::code);
    return found != errors.end() ? &*found : static_error(MORTISE_INTERNAL_ERROR);
}

mortise_error described(std::error_code ec, const char* message) {
    mortise_error made;
    made.code = code_of(ec);
    made.system = made.code == MORTISE_SYSTEM_ERROR ? system_value(ec) : 0;
    made.message = message;
    return made;
}

mortise_error described(int code, const char* message) {
    mortise_error made;
    made.code = code;
    made.message = message;
    return made;
}

mortise_error described(const LockError& thrown) {
    auto made = described(thrown.code(), thrown.what());
    made.reason = thrown.detail().reason;
    made.lock_name = thrown.detail().name;
    return made;
}

mortise_error described(const HoldFailure& failure) {
    auto detail = failure.detail;
    if (!failure.lock_name.empty()) detail.name = failure.lock_name;
    return described(LockError{failure.code, std::move(detail)});
}

// The code without a description, for when there is no memory for one.
int code_of_exception() noexcept {
    try {
        throw;
    } catch (const Misuse&) {
        return MORTISE_INVALID_ARGUMENT;
    } catch (const HoldFailure& failure) {
        return code_of(failure.code);
    } catch (const std::system_error& thrown) {
        return code_of(thrown.code());
    } catch (const std::bad_alloc&) {
        return MORTISE_OUT_OF_MEMORY;
    } catch (...) {
        return MORTISE_INTERNAL_ERROR;
    }
}

mortise_error described_exception() {
    try {
        throw;
    } catch (const Misuse& misuse) {
        return described(MORTISE_INVALID_ARGUMENT, misuse.what);
    } catch (const HoldFailure& failure) {
        return described(failure);
    } catch (const LockError& thrown) {
        return described(thrown);
    } catch (const std::system_error& thrown) {
        return described(thrown.code(), thrown.what());
    } catch (const std::bad_alloc&) {
        return described(MORTISE_OUT_OF_MEMORY, "there is no memory");
    } catch (const std::exception& thrown) {
        return described(MORTISE_INTERNAL_ERROR, thrown.what());
    } catch (...) {
        return described(MORTISE_INTERNAL_ERROR, "an exception of an unknown type");
    }
}

const char* shown(const std::string& text, std::size_t* length) noexcept {
    if (length != nullptr) *length = text.size();
    return text.c_str();
}

const char* shown(const char* text, std::size_t* length) noexcept {
    if (length != nullptr) *length = std::string_view{text}.size();
    return text;
}

}  // namespace

int report_exception(mortise_error** error) noexcept {
    const int code = code_of_exception();
    if (error == nullptr) return code;
    try {
        *error = new mortise_error{described_exception()};
    } catch (...) {
        *error = static_error(code);
    }
    return code;
}

}  // namespace mortise::capi

using namespace mortise::capi;

int mortise_error_code(const mortise_error* error) {
    return error != nullptr ? error->code : MORTISE_OK;
}

const char* mortise_error_code_name(const mortise_error* error) {
    return mortise_code_name(mortise_error_code(error));
}

const char* mortise_error_message(const mortise_error* error, size_t* length) {
    if (error == nullptr || error->message.empty()) {
        return shown(mortise_error_code_name(error), length);
    }
    return shown(error->message, length);
}

const char* mortise_error_reason(const mortise_error* error, size_t* length) {
    return error != nullptr ? shown(error->reason, length) : shown("", length);
}

const char* mortise_error_lock_name(const mortise_error* error, size_t* length) {
    return error != nullptr ? shown(error->lock_name, length) : shown("", length);
}

int mortise_error_errno(const mortise_error* error) {
    return error != nullptr ? error->system : 0;
}

void mortise_error_free(mortise_error* error) {
    if (error != nullptr && !error->is_static) delete error;
}

void mortise_bytes_free(char* bytes) {
    delete[] bytes;
}
