#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/holds/locker_state.hpp"
#include "embed/runtime/node_runtime.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/locker.hpp>
#include <mortise/node.hpp>

namespace mortise {

namespace {

std::shared_ptr<detail::LockerState> new_state(const Node& node, std::string label) {
    const auto& runtime = detail::runtime_of(node);
    if (!runtime) throw LockError{Errc::node_stopped};
    if (runtime->is_forked()) throw LockError{Errc::forked};
    if (const auto bad = detail::unsound_label(label); !bad.empty())
        throw LockError{Errc::invalid_argument, {{}, {}, {}, std::string{bad}}};
    return std::make_shared<detail::LockerState>(runtime->gate(), std::move(label));
}

}  // namespace

Locker::Locker(Node& node, std::string label) : state_{new_state(node, std::move(label))} {}

Locker::Locker(std::shared_ptr<detail::LockerState> state) noexcept : state_{std::move(state)} {}

std::size_t Locker::hold_count() const noexcept {
    return state_ ? state_->hold_count() : 0;
}

std::error_code Locker::release_all() noexcept {
    if (!state_) return {};
    const auto released = state_->release_all();
    std::error_code first;
    for (const auto& waiting : released.asked) {
        const auto error = detail::wait_for_release(*waiting, *state_->gate());
        if (!first) first = error;
    }
    return !first && released.more ? Errc::outcome_unknown : first;
}

}  // namespace mortise
