#pragma once

#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <mortise/errc.hpp>
#include <mortise/info.hpp>

namespace mortise {

// Details of an error that its code cannot express.
struct ErrorDetail {
    // One step of a wait cycle (S33).
    struct Wait {
        std::string locker;     // its label, or that of its request, "node 2, locker 7", "a client"
        std::string waits_for;  // the name that the locker of the next step holds
        friend bool operator==(const Wait&, const Wait&) = default;
    };

    // The lock; of a call for several names, the one that is not valid, or the first of its list.
    std::string name{};
    // For Errc::deadlock: the wait cycle. It begins with the locker that gets the error, and its
    // last step waits for the first. A longer cycle is cut after 16 steps.
    std::vector<Wait> cycle{};
    std::vector<HolderInfo> holders{};  // the conflicting holders, as far as known
    std::string reason{};               // more words than the code's message
};

// Thrown by every call without a std::error_code argument. code() is an Errc. what() has the name
// of the lock, and the wait cycle of a deadlock or the reason, with control characters escaped.
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
