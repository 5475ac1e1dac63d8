#include "embed/holds/locker_state.hpp"

#include <algorithm>
#include <new>

#include "embed/values/lock_mode.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

LockerState::LockerState(std::shared_ptr<CallGate> gate, std::string label)
    : gate_{std::move(gate)}, label_{std::move(label)}, number_{gate_->next_tag().raw()} {}

LockerState::Nesting LockerState::begin(const std::string& name, LockMode mode) {
    if (generation_.is_forked()) return {{}, Errc::forked};
    const std::scoped_lock lock{mutex_};
    const auto [found, is_new] = names_.try_emplace(name);
    auto& known = found->second;
    if (is_new) return {};
    if (!known.grant) return {{}, Errc::invalid_argument};
    const auto lost = known.grant->failure();
    if (lost) return {{}, lost};
    if (!core::covers(to_core(known.grant->mode()), to_core(mode))) return {{}, Errc::deadlock};
    if (known.holds >= nesting_max) return {{}, Errc::resource_exhausted};
    return {share(known, mode), {}};
}

Hold LockerState::ended(const std::string& name, Hold granted) {
    const std::scoped_lock lock{mutex_};
    const auto found = names_.find(name);
    if (!granted) {
        names_.erase(found);
        return {};
    }
    auto& known = found->second;
    known.grant = HoldRecord::of(granted);
    try {
        auto shared = share(known, granted.mode());
        HoldRecord::take(granted);
        return shared;
    } catch (...) {  // no memory: the grant is released
        names_.erase(found);
        throw;
    }
}

void LockerState::add(const Hold& granted) {
    const std::scoped_lock lock{mutex_};
    std::erase_if(together_, [](const auto& known) {
        const auto grant = known.lock();
        return !grant || grant->has_left();
    });
    together_.push_back(HoldRecord::of(granted));
}

Hold LockerState::share(Name& name, LockMode mode) {
    auto record = std::make_shared<HoldRecord>(name.grant, mode, shared_from_this());
    ++name.holds;
    return HoldRecord::hold_on(std::move(record));
}

bool LockerState::is_only_one(const HoldRecord& hold) const {
    const auto found = names_.find(hold.name());
    const bool is_known = found != names_.end() && found->second.grant == hold.grant();
    return is_known && found->second.holds == 1;
}

bool LockerState::is_alone(const HoldRecord& hold) const {
    const std::scoped_lock lock{mutex_};
    return is_only_one(hold);
}

bool LockerState::lower(const HoldRecord& hold, LockMode mode) {
    const std::scoped_lock lock{mutex_};
    if (!is_only_one(hold)) return false;
    hold.grant()->set_mode(mode);
    return true;
}

GivenBack LockerState::leave(const HoldRecord& hold, core::CallTag tag,
                             std::shared_ptr<Completion> waiting) noexcept {
    if (generation_.is_forked()) return {};
    const std::scoped_lock lock{mutex_};
    const auto found = names_.find(hold.name());
    // After release_all() there may be another grant of the name.
    if (found == names_.end()) return {};
    if (found->second.grant != hold.grant()) return {};
    if (--found->second.holds > 0) return {};
    const auto grant = std::move(names_.extract(found).mapped().grant);
    if (!grant->mark_released()) return {false, grant->failure()};
    return submit_release(grant, tag, std::move(waiting));
}

std::size_t LockerState::hold_count() const {
    if (generation_.is_forked()) return 0;
    const std::scoped_lock lock{mutex_};
    std::size_t holds = 0;
    for (const auto& [name, known] : names_)
        holds += known.holds;
    const auto is_there = [](const auto& known) {
        const auto grant = known.lock();
        return grant && !grant->has_left();
    };
    return holds + static_cast<std::size_t>(std::ranges::count_if(together_, is_there));
}

namespace {

// Null if there is no memory.
std::shared_ptr<WaitingThread> add_waiting(std::vector<std::shared_ptr<WaitingThread>>& to) {
    try {
        return to.emplace_back(std::make_shared<WaitingThread>());
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

}  // namespace

void LockerState::release(const std::shared_ptr<HoldRecord>& grant, Released& released) noexcept {
    if (!grant->mark_released()) return;
    const auto waiting = add_waiting(released.asked);
    if (waiting == nullptr) released.more = true;
    const auto tag = waiting != nullptr ? grant->gate()->next_tag() : core::CallTag{};
    const bool asked = submit_release(grant, tag, waiting).asked;
    if (!asked && waiting != nullptr) released.asked.pop_back();
}

LockerState::Released LockerState::release_all() noexcept {
    Released released;
    if (generation_.is_forked()) return released;
    const std::scoped_lock lock{mutex_};
    for (auto known = names_.begin(); known != names_.end();) {
        const auto here = known++;
        if (!here->second.grant) continue;
        const auto grant = std::move(names_.extract(here).mapped().grant);
        release(grant, released);
    }
    for (const auto& known : together_) {
        const auto grant = known.lock();
        if (!grant) continue;
        grant->forget_watcher();
        release(grant, released);
    }
    together_.clear();
    return released;
}

}  // namespace mortise::detail
