#include "core/locks/needed_rights.hpp"

#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

using Missing = std::optional<MissingRight>;

Missing missing(const Access& access, Right right, std::string_view name) {
    return access.may(right, name) ? Missing{} : MissingRight{right, name};
}

// A client that may acquire or break the name may ask for its release as well. The right to observe
// is not enough, because the request disturbs the holder.
Missing missing(const Access& access, const AskRelease& request) {
    if (access.may(Right::break_lock, request.name)) return {};
    return missing(access, Right::acquire, request.name);
}

}  // namespace

std::optional<MissingRight> missing_right(const Access& access, const Acquire& request) {
    for (const auto& one : request.names) {
        if (auto found = missing(access, Right::acquire, one.name)) return found;
    }
    return {};
}

std::optional<MissingRight> missing_right(const Access& access, const RequestBody& body) {
    return std::visit(
        Overloaded{
            [&](const Acquire& one) { return missing_right(access, one); },
            [&](const BreakLock& one) { return missing(access, Right::break_lock, one.name); },
            // It takes locks of every name.
            [&](const EvictSession&) { return missing(access, Right::break_lock, {}); },
            [&](const AskRelease& one) { return missing(access, one); },
            [&](const Remove& one) { return missing(access, Right::acquire, one.name); },
            [&](const KindRequest auto& one) { return missing(access, Right::acquire, one.name); },
            [](const auto&) { return Missing{}; }},
        body);
}

}  // namespace mortise::core
