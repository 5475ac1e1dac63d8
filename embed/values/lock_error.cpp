#include <utility>

#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>

namespace mortise {

namespace {

// "orders/42 (a waits for b, b waits for a)", as far as known.
std::string in_words(const ErrorDetail& detail) {
    std::string text = escaped_name(detail.name);
    std::string cycle;
    for (const auto& [locker, waits_for] : detail.cycle) {
        if (!cycle.empty()) cycle += ", ";
        cycle += escaped(locker) + " waits for " + escaped_name(waits_for);
    }
    if (!cycle.empty()) text += text.empty() ? cycle : " (" + cycle + ")";
    if (!detail.reason.empty()) text += (text.empty() ? "" : ": ") + escaped(detail.reason);
    return text;
}

std::system_error in_words(std::error_code code, const ErrorDetail& detail) {
    auto subject = in_words(detail);
    // An invalid call may have no name.
    if (subject.empty() && code == Errc::invalid_argument) subject = R"("")";
    return subject.empty() ? std::system_error{code} : std::system_error{code, subject};
}

}  // namespace

LockError::LockError(std::error_code code, ErrorDetail detail)
    : std::system_error{in_words(code, detail)},
      detail_{std::make_shared<const ErrorDetail>(std::move(detail))} {}

LockError::~LockError() = default;

}  // namespace mortise
