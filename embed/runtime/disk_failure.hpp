// A failure of the log or the state on disk (P5). NodeRuntime::disk_failed() in disk_failure.cpp
// decides whether the node stops or is suspended.
#pragma once

#include <string>
#include <system_error>

#include "storage/base/errors.hpp"

namespace mortise::detail {

// Why a store cannot be used any more.
struct DiskFailure {
    std::string why;
    bool may_pass = false;   // reopening may succeed later, for example when there is space again
    bool is_closed = false;  // the program closed its descriptors
    std::error_code code{};  // if it may pass: what is missing
};

[[nodiscard]] DiskFailure failure_of(const storage::Error& error);

}  // namespace mortise::detail
