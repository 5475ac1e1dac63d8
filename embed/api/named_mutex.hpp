// The common part of Mutex, SharedMutex and RecursiveMutex.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "embed/holds/thread_owners.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/hold.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/options.hpp>

namespace mortise::detail {

// Thread-safe. The members do what the public classes describe.
class NamedMutex {
public:
    NamedMutex(const Node& node, std::string_view name, AcquireOptions options,
               Recursion recursion = Recursion::no);
    ~NamedMutex();
    NamedMutex(const NamedMutex&) = delete;
    NamedMutex& operator=(const NamedMutex&) = delete;

    void lock(LockMode mode);
    [[nodiscard]] bool try_lock(LockMode mode);
    [[nodiscard]] bool try_lock_until(LockMode mode, Deadline deadline);
    void unlock(LockMode mode) noexcept;

    [[nodiscard]] const Hold& hold() const;

private:
    [[nodiscard]] ThreadOwners& owners() const { return thread_owners(*node_); }
    [[nodiscard]] bool lock_again(LockMode mode) const;
    [[nodiscard]] bool recurse() const;
    [[nodiscard]] std::error_code obstacle() const;
    [[nodiscard]] bool has_it_through_another_node(LockMode mode, bool& is_sure) const;
    [[nodiscard]] AcquireOrder order(LockMode mode, Attempt attempt, Deadline deadline) const;
    [[nodiscard]] bool try_once(AcquireOrder order, std::error_code& ec);
    [[noreturn]] void fail(std::error_code ec, ErrorDetail detail = {}) const;

    const std::shared_ptr<NodeRuntime> node_;
    const std::string name_;
    const AcquireOptions options_;
    const Recursion recursion_;
    const MutexNumber number_ = next_mutex_number();
    const Hold none_;
};

}  // namespace mortise::detail
