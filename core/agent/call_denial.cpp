#include "core/agent/call_denial.hpp"

#include "core/base/overloaded.hpp"
#include "core/locks/needed_rights.hpp"

namespace mortise::core {

std::optional<Denied> denial_of(const Call& call, const Access& access, std::string_view who) {
    using Missing = std::optional<MissingRight>;
    const auto missing = std::visit(
        Overloaded{[&](const AcquireCall& one) { return missing_right(access, one.request); },
                   [&](const WriteCall& one) { return missing_right(access, one.body); },
                   [&](const AwaitCall& one) { return missing_right(access, one.body); },
                   [&](const InspectCall& one) {
                       const bool may = one.is_prefix ? access.may_all(Right::observe, one.name)
                                                      : access.may(Right::observe, one.name);
                       return may ? Missing{} : MissingRight{Right::observe, one.name};
                   },
                   [&](const ChangeCall&) {
                       const bool may = access.may(Right::members, {});
                       return may ? Missing{} : MissingRight{Right::members, {}};
                   },
                   [](const auto&) { return Missing{}; }},
        call);
    if (!missing) return std::nullopt;
    return denial(who, access, missing->right, missing->name);
}

}  // namespace mortise::core
