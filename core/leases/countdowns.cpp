#include "core/leases/countdowns.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

constexpr std::int64_t million = 1'000'000;
constexpr Nanoseconds margin_min = std::chrono::milliseconds{50};

Nanoseconds milliseconds(std::uint32_t ms) {
    return std::chrono::milliseconds{ms};
}

}  // namespace

Nanoseconds cluster_patience(std::uint32_t ttl_ms, std::uint32_t rho_ppm) {
    const auto per_million = milliseconds(ttl_ms).count() / million;  // a whole number: ms in ns
    return milliseconds(ttl_ms) + Nanoseconds{per_million * rho_ppm};
}

Nanoseconds holder_trust(std::uint32_t ttl_ms, std::uint32_t rho_ppm) {
    const auto ttl = milliseconds(ttl_ms);
    const auto per_million = ttl.count() / million;
    const auto margin = std::max(margin_min, ttl / 100);
    return std::max(Nanoseconds{0}, ttl - Nanoseconds{per_million * rho_ppm} - margin);
}

void Countdowns::start(const OpenSession& opened, SessionId session, LogIndex renewed_at,
                       Nanoseconds elapsed, Instant now) {
    stop(session);
    const auto ttl = milliseconds(opened.ttl_ms);
    const auto started = now - elapsed;
    const auto ends = started + cluster_patience(opened.ttl_ms, opened.rho_ppm);
    running_[session] = {renewed_at, started, ends, ttl};
    by_end_.emplace(ends, session);
    save_at_ = std::min(save_at_, now + ttl / 8);
}

void Countdowns::stop(SessionId session) {
    const auto found = running_.find(session);
    if (found == running_.end()) return;
    by_end_.erase({found->second.ends, session});
    run_out_.erase({session, found->second.renewed_at});
    running_.erase(found);
}

Nanoseconds Countdowns::elapsed(SessionId session, LogIndex renewed_at, Instant now) const {
    const auto found = running_.find(session);
    if (found == running_.end() || found->second.renewed_at != renewed_at) return {};
    return now - found->second.started;
}

void Countdowns::advance(Instant now) {
    while (!by_end_.empty() && by_end_.begin()->first <= now) {
        const auto session = by_end_.begin()->second;
        run_out_.insert({session, running_.at(session).renewed_at});
        by_end_.erase(by_end_.begin());
    }
}

Instant Countdowns::deadline() const {
    const auto next = by_end_.empty() ? Instant::never() : by_end_.begin()->first;
    return std::min(next, save_at_);
}

std::vector<SavedCountdown> Countdowns::save(Instant now) const {
    std::vector<SavedCountdown> all;
    all.reserve(running_.size());
    for (const auto& [session, running] : running_) {
        all.push_back({session, running.renewed_at, now - running.started});
    }
    return all;
}

void Countdowns::saved(Instant now) {
    save_at_ = Instant::never();
    for (const auto& [session, running] : running_) {
        save_at_ = std::min(save_at_, now + running.ttl / 8);
    }
}

}  // namespace mortise::core
