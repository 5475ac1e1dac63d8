// The errors of the C interface.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include <mortise.h>

#include <mortise/lock_error.hpp>

struct mortise_error {
    int code = MORTISE_OK;
    int system = 0;          // an errno value
    bool is_static = false;  // made before it was needed, for a moment without memory
    std::string message{};   // empty: the name of the code
    std::string reason{};
    std::string lock_name{};
};

namespace mortise::capi {

// The caller broke a rule of the header; `what` names the parameter, and is static text.
struct Misuse {
    const char* what;
};

// What a hold or the end of an acquire says when it has failed. Unlike a LockError it needs no
// memory, so that the code stays the same without any. The name belongs to the hold, and is empty
// if `detail` has it.
struct HoldFailure {
    std::error_code code;
    std::string_view lock_name;
    ErrorDetail detail{};
};

// Called in a handler: returns the code of the present exception, and describes it in *error unless
// `error` is null.
[[nodiscard]] int report_exception(mortise_error** error) noexcept;

}  // namespace mortise::capi
