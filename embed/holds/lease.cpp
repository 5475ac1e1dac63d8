#include "embed/holds/lease.hpp"

#include <utility>

#include "embed/holds/held_records.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

template <class Holds>
std::vector<std::shared_ptr<HoldRecord>> living(const Holds& holds) {
    std::vector<std::shared_ptr<HoldRecord>> found;
    for (const auto& [key, weak] : holds) {
        if (auto hold = weak.lock()) found.push_back(std::move(hold));
    }
    return found;
}

}  // namespace

std::shared_ptr<Lease> Lease::make_lasting(core::SessionId session, core::Instant valid_until,
                                           core::Nanoseconds margin,
                                           std::weak_ptr<const HeldRecords> records) {
    auto lease = std::make_shared<Lease>(session, valid_until, margin, std::move(records));
    lease->lasts_ = true;
    return lease;
}

bool Lease::extend(core::Instant valid_until) {
    auto present = valid_until_.load(std::memory_order_acquire);
    while (lasts_ && present != over && present < valid_until.ns) {
        if (valid_until_.compare_exchange_weak(present, valid_until.ns)) return true;
    }
    if (lasts_) return present != over;
    while (present != over && !end_if_run_out(boot_now())) {
        if (present >= valid_until.ns) return true;
        if (!valid_until_.compare_exchange_weak(present, valid_until.ns)) continue;
        // The lease may have ended between the reading of the clock and the exchange.
        if (boot_now().ns < present) return true;
        end();
        return false;
    }
    return false;
}

bool Lease::end_if_run_out(core::Instant boot) {
    auto present = valid_until_.load(std::memory_order_acquire);
    while (!lasts_ && present != over && boot.ns >= present) {
        if (valid_until_.compare_exchange_weak(present, over)) return true;
    }
    return false;
}

std::vector<std::shared_ptr<HoldRecord>> Lease::holds() const {
    const auto records = records_.lock();
    return records ? records->of(*this) : std::vector<std::shared_ptr<HoldRecord>>{};
}

void Lease::add_risk_watcher(const std::shared_ptr<HoldRecord>& hold) {
    risk_watchers_.with([&](auto& holds) { holds.emplace(hold.get(), hold); });
}

void Lease::remove_risk_watcher(const HoldRecord* hold) {
    risk_watchers_.with([&](auto& holds) { holds.erase(hold); });
}

std::vector<std::shared_ptr<HoldRecord>> Lease::risk_watchers() const {
    return risk_watchers_.with([](const auto& holds) { return living(holds); });
}

void Lease::add_listener(core::OperationId grant, const std::shared_ptr<HoldRecord>& hold) {
    listeners_.with([&](auto& grants) { grants[grant].emplace(hold.get(), hold); });
}

void Lease::remove_listener(core::OperationId grant, const HoldRecord* hold) {
    listeners_.with([&](auto& grants) {
        const auto found = grants.find(grant);
        if (found == grants.end()) return;
        found->second.erase(hold);
        if (found->second.empty()) grants.erase(found);
    });
}

void Lease::remove_listeners(core::OperationId grant) {
    listeners_.with([&](auto& grants) { grants.erase(grant); });
}

std::vector<std::shared_ptr<HoldRecord>> Lease::listeners(core::OperationId grant) const {
    return listeners_.with([&](const auto& grants) {
        const auto found = grants.find(grant);
        return found == grants.end() ? std::vector<std::shared_ptr<HoldRecord>>{}
                                     : living(found->second);
    });
}

}  // namespace mortise::detail
