#include "embed/values/origin.hpp"

#include <array>
#include <cerrno>
#include <cstddef>

#include <unistd.h>

namespace mortise {

std::string shown_label(const std::string& label, const Origin& origin) {
    return label.empty() ? core::default_label(detail::to_core(origin)) : label;
}

std::string shown_label(const HolderInfo& holder) {
    return shown_label(holder.label, holder.origin);
}

std::string shown_label(const WaiterInfo& waiter) {
    return shown_label(waiter.label, waiter.origin);
}

namespace detail {

core::Origin own_origin() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host.front() = 0;
    return core::tidied(
        {host.data(), program_invocation_short_name, static_cast<std::uint64_t>(getpid()), {}});
}

}  // namespace detail

}  // namespace mortise
