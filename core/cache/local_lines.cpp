#include "core/cache/local_lines.hpp"

#include "core/base/check.hpp"

namespace mortise::core {

// If memory is lacking, nothing has changed but a line without callers, which the next call
// removes.
void LocalLines::add(std::string_view name, Waiter waiter) {
    auto line = lines_.find(name);
    if (line == lines_.end()) line = lines_.emplace(std::string{name}, Line{}).first;
    Waiters one;
    one.push_back(std::move(waiter));
    const auto place = one.begin();
    const auto [entry, is_new] = by_call_.emplace(place->call, Place{&*line, place});
    MORTISE_CHECK(is_new);
    try {
        by_until_.emplace(place->until, place->call);
    } catch (...) {
        by_call_.erase(entry);
        throw;
    }
    line->second.waiters.splice(line->second.waiters.end(), one);
}

void LocalLines::set_asker(std::string_view name, CallTag asker, Instant now) {
    if (!lines_.contains(name)) lines_.emplace(std::string{name}, Line{});
    change_asker(name, asker, now);
}

void LocalLines::change_asker(std::string_view name, CallTag asker, Instant now) {
    const auto line = lines_.find(name);
    if (line != lines_.end()) line->second.asker = Asker{asker, now};
}

bool LocalLines::forget_asker(std::string_view name, CallTag asker) {
    const auto line = lines_.find(name);
    if (line == lines_.end() || !line->second.asker || line->second.asker->call != asker)
        return false;
    line->second.asker.reset();
    erase_if_unused(line);
    return true;
}

std::optional<Instant> LocalLines::asked_at(std::string_view name) const {
    const auto line = lines_.find(name);
    if (line == lines_.end() || !line->second.asker) return std::nullopt;
    return line->second.asker->at;
}

const LocalLines::Waiter* LocalLines::first(std::string_view name) const {
    const auto line = lines_.find(name);
    if (line == lines_.end() || line->second.waiters.empty()) return nullptr;
    return &line->second.waiters.front();
}

std::optional<CallTag> LocalLines::due(Instant now) const {
    if (by_until_.empty() || by_until_.begin()->first > now) return std::nullopt;
    return by_until_.begin()->second;
}

const std::string& LocalLines::name_of(CallTag call) const {
    return by_call_.at(call).line->first;
}

LocalLines::Waiters LocalLines::take(CallTag call) {
    const auto place = by_call_.find(call);
    if (place == by_call_.end()) return {};
    const auto [line, waiter] = place->second;
    Waiters one;
    one.splice(one.end(), line->second.waiters, waiter);
    by_until_.erase({waiter->until, waiter->call});
    by_call_.erase(place);
    erase_if_unused(lines_.find(line->first));
    return one;
}

LocalLines::Waiters LocalLines::take_all(std::string_view name) {
    const auto line = lines_.find(name);
    if (line == lines_.end()) return {};
    auto all = std::move(line->second.waiters);
    line->second.waiters.clear();
    for (const auto& one : all) {
        by_until_.erase({one.until, one.call});
        by_call_.erase(one.call);
    }
    erase_if_unused(line);
    return all;
}

void LocalLines::clear() {
    by_until_.clear();
    by_call_.clear();
    lines_.clear();
}

bool LocalLines::is_empty(std::string_view name) const {
    const auto line = lines_.find(name);
    return line == lines_.end() || line->second.waiters.empty();
}

Instant LocalLines::deadline() const {
    return by_until_.empty() ? Instant::never() : by_until_.begin()->first;
}

void LocalLines::for_each_name(const std::function<void(std::string_view)>& use) const {
    for (const auto& [name, line] : lines_) {
        if (!line.waiters.empty()) use(name);
    }
}

void LocalLines::erase_if_unused(Lines::iterator line) {
    if (line != lines_.end() && line->second.waiters.empty() && !line->second.asker)
        lines_.erase(line);
}

}  // namespace mortise::core
