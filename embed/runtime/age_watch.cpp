#include "embed/runtime/age_watch.hpp"

#include <algorithm>
#include <utility>

#include "embed/runtime/translate.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/published.hpp"
#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

using namespace std::chrono_literals;

// What one turn looks at, and the warnings in it: a name with many waiters takes a while (P10).
constexpr std::size_t looks_max = 4'096;
constexpr std::size_t warnings_max = 8;

// Often enough for a warning in time.
core::Nanoseconds pause_for(const ObservabilityConfig& config) {
    core::Nanoseconds shortest = std::chrono::seconds{8};
    for (const auto limit : {config.slow_hold, config.long_wait}) {
        if (limit > Duration::zero()) shortest = std::min(shortest, limit.to_nanoseconds());
    }
    return std::clamp<core::Nanoseconds>(shortest / 8, 10ms, 1s);
}

// "90s", "250ms": the rest does not matter to a person.
std::string age_in_words(core::Nanoseconds age) {
    const auto unit = age < 10s ? core::Nanoseconds{1ms} : core::Nanoseconds{1s};
    return to_string(Duration{age - age % unit});
}

std::string labelled(const std::string& label) {
    return label.empty() ? std::string{} : ", label \"" + escaped(label) + "\"";
}

std::string from_where(const core::LockView& view, core::SessionId session) {
    const auto* origin = view.origin_of(session);
    const auto whence = origin == nullptr ? std::string{} : core::default_label(*origin);
    return whence.empty() ? whence : ", from " + escaped(whence);
}

std::string requests_wait(std::size_t count) {
    if (count == 0) return "nobody waits for it";
    return count == 1 ? "1 request waits for it" : std::to_string(count) + " requests wait for it";
}

// Of a semaphore: nobody who waits gets a permit if the first in the queue asks for more than there
// are. The limit may still grow, so that is no error. Otherwise empty.
std::string more_than_the_limit(const core::LockView& view) {
    const auto* semaphore = view.as<core::Semaphore>();
    if (semaphore == nullptr || view.waiters.empty()) return {};
    const auto asked = view.waiters.front().permits;
    if (asked <= semaphore->permits) return {};
    return "the first request in the queue asks for " + std::to_string(asked) +
           " permits, and the limit is " + std::to_string(semaphore->permits) +
           ": all wait until the limit grows or that request is given up";
}

// A candidate of an election waits as long as its leader lives, and that is no trouble.
bool is_led(const core::LockView& view) {
    if (!view.value || view.holders.empty()) return false;
    return view.value->bytes.starts_with(published(from_core(view.holders.front().token), {}));
}

}  // namespace

AgeWatch::AgeWatch(Parts parts, const ObservabilityConfig& config)
    : parts_{parts},
      slow_hold_{config.slow_hold.to_nanoseconds()},
      long_wait_{config.long_wait.to_nanoseconds()},
      timer_{parts.io},
      pause_{pause_for(config)} {}

void AgeWatch::start(Knowledge knowledge) {
    if (!slow_hold_.is_set() && !long_wait_.is_set()) return;
    knowledge_ = std::move(knowledge);
    set_timer();
}

void AgeWatch::stop() {
    knowledge_.agent = nullptr;
    timer_.cancel();
}

void AgeWatch::set_timer() {
    timer_.expires_after(pause_);
    timer_.async_wait([this](std::error_code error) {
        if (!error && knowledge_.agent != nullptr) look();
    });
}

// What is left is looked at in the next turn. To ask about a name may change what is looked at.
void AgeWatch::look() {
    const auto now = steady_now();
    due_.clear();
    if (slow_hold_.is_set() && look_at_holds(now)) next_hold_ = {};
    if (long_wait_.is_set() && look_at_calls(now)) next_call_ = 0;
    for (auto& due : std::exchange(due_, {})) {
        if (knowledge_.agent == nullptr) return;
        auto name = due.event.name;
        knowledge_.look_at(name, [this, due = std::move(due)](const core::LockView& view) {
            if (knowledge_.agent != nullptr) warn(due, view);
        });
    }
    if (knowledge_.agent != nullptr) set_timer();
}

// True if it came to the end.
bool AgeWatch::look_at_holds(core::Instant now) {
    auto left = looks_max;
    return parts_.holds.each_from(next_hold_, [&](core::OperationId operation, HoldRecord& hold) {
        next_hold_ = operation;
        if (left-- == 0 || due_.size() >= warnings_max) return false;
        const auto since = hold.in_use_since();
        if (!since || hold.is_released()) return true;
        const auto age = now - *since;
        auto given = hold.age_warnings();
        if (!slow_hold_.is_due(age, given)) return true;
        hold.set_age_warnings(given);
        due_.push_back(due_for(hold, age));
        return true;
    });
}

bool AgeWatch::look_at_calls(core::Instant now) {
    auto left = looks_max;
    return parts_.calls.each_from(
        next_call_, [&](core::CallTag tag, std::shared_ptr<Submitted>& one) {
            if (left == 0 || due_.size() >= warnings_max) return false;
            --left;
            const auto* acquire = one->get_if<core::AcquireCall>();
            if (acquire == nullptr) return true;
            const auto age = now - acquire->began;
            if (!long_wait_.is_due(age, one->as_call()->age_warnings)) return true;
            auto due = due_for(tag, age);
            if (due.names != 0) due_.push_back(std::move(due));  // otherwise it is on its way
            return true;
        });
}

AgeWatch::Due AgeWatch::due_for(const HoldRecord& hold, core::Nanoseconds age) const {
    Due due{{.kind = NodeEvent::Kind::slow_hold}, hold.operation()};
    due.event.name = hold.has_parts() ? hold.parts().front().name : std::string{hold.name()};
    due.event.token = hold.has_parts() ? from_core(hold.parts().front().token) : hold.token();
    due.event.took = age;
    if (hold.has_parts()) due.names = hold.parts().size();
    return due;
}

AgeWatch::Due AgeWatch::due_for(core::CallTag call, core::Nanoseconds age) const {
    const auto names = knowledge_.agent->waits_for(call);
    Due due{{.kind = NodeEvent::Kind::long_wait}, knowledge_.agent->operation_of(call)};
    due.names = names.size();
    if (!names.empty()) due.event.name = names.front();
    due.event.took = age;
    return due;
}

void AgeWatch::warn(const Due& due, const core::LockView& view) const {
    if (due.event.kind == NodeEvent::Kind::slow_hold) return warn_of_hold(due, view);
    if (!is_led(view)) warn_of_wait(due, view);
}

void AgeWatch::warn_of_hold(const Due& due, const core::LockView& view) const {
    auto event = due.event;
    const auto own = std::ranges::find(view.holders, due.operation, &core::Grant::operation);
    if (own != view.holders.end()) event.label = own->label;
    event.text = "held for " + age_in_words(event.took.to_nanoseconds()) + labelled(event.label) +
                 ", token " + to_string(event.token);
    if (due.names > 1) event.text += ", with " + std::to_string(due.names - 1) + " other names";
    if (knows_of(view)) event.text += "; " + requests_wait(view.waiters_total);
    write("slow_hold", "\"" + escaped_name(event.name) + "\" is " + event.text, event);
    parts_.events.publish(event);
}

void AgeWatch::warn_of_wait(const Due& due, const core::LockView& view) const {
    auto event = due.event;
    const auto own =
        std::ranges::find(view.waiters, due.operation, &core::LockView::Waiting::operation);
    const bool is_whole = !view.name.empty() && view.waiters.size() == view.waiters_total;
    if (own == view.waiters.end() && is_whole) return;  // it has ended meanwhile
    if (own != view.waiters.end()) event.label = own->label;
    event.text =
        "a call waits for " + age_in_words(event.took.to_nanoseconds()) + labelled(event.label);
    if (due.names > 1) event.text += ", for " + std::to_string(due.names - 1) + " other names too";
    if (knows_of(view)) event.text += "; " + in_the_way(view, event);
    write("long_wait", "\"" + escaped_name(event.name) + "\": " + event.text, event);
    parts_.events.publish(event);
}

// The node may use a name and not be allowed to see who else does. A view without a name tells
// nothing.
bool AgeWatch::knows_of(const core::LockView& view) const {
    return !view.name.empty() && parts_.access.may(core::Right::observe, view.name);
}

void AgeWatch::write(std::string_view key, const std::string& text, const NodeEvent& event) const {
    parts_.log.warn(key, text,
                    {{"name", event.name},
                     {"label", event.label},
                     {"token", to_string(event.token)},
                     {"peer", std::to_string(event.peer)},
                     {"took", age_in_words(event.took.to_nanoseconds())}});
}

// Also fills in the holder.
std::string AgeWatch::in_the_way(const core::LockView& view, NodeEvent& event) const {
    if (auto never = more_than_the_limit(view); !never.empty()) return never;
    if (view.holders.empty()) {
        return view.is_closed
                   ? "the name is closed under token " + std::to_string(view.closed_under.raw())
                   : "nobody holds it; other requests are before it";
    }
    const auto& oldest = view.holders.front();
    const auto node = view.nodes.find(oldest.operation.session);
    const auto id = node == view.nodes.end() ? core::NodeId{} : node->second;
    event.peer = id.raw();
    event.token = from_core(oldest.token);
    auto text =
        in_words(id) + " holds it" + labelled(oldest.label) + ", token " + to_string(event.token);
    if (const auto held = view.age_of(oldest.since)) text += ", for " + age_in_words(*held);
    text += from_where(view, oldest.operation.session);
    if (view.holders_total > 1)
        text += ", and " + std::to_string(view.holders_total - 1) + " others";
    return text;
}

}  // namespace mortise::detail
