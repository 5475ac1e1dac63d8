#pragma once

#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <mortise/errc.hpp>
#include <mortise/info.hpp>

namespace mortise {

// What a code alone cannot say.
struct ErrorDetail {
    // One step of a circle of waits (S33).
    struct Wait {
        std::string locker;     // its label, or that of what it asked for, or "node 2, locker 7"
        std::string waits_for;  // the name of the lock, which the locker of the next step keeps
        friend bool operator==(const Wait&, const Wait&) = default;
    };

    std::string name{};  // of the lock
    // Errc::deadlock: the circle, beginning with who gets the error; the last step waits for the
    // first. Of a long one the first 16 steps.
    std::vector<Wait> cycle{};
    std::vector<HolderInfo> holders{};  // who was in the way, as far as known
    std::string reason{};               // in more words than the code has
};

// Thrown by every call that has no std::error_code argument. code() is an Errc; what() has the name
// of the lock, and the circle of a deadlock, or the reason, with control characters escaped.
// Copying does not throw.
class LockError : public std::system_error {
public:
    explicit LockError(std::error_code code, ErrorDetail detail = {});
    LockError(const LockError&) noexcept = default;
    LockError& operator=(const LockError&) noexcept = default;
    ~LockError() override;

    [[nodiscard]] const ErrorDetail& detail() const noexcept { return *detail_; }

private:
    std::shared_ptr<const ErrorDetail> detail_;
};

}  // namespace mortise
