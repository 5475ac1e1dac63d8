#include "embed/threads/event_hub.hpp"

#include <new>
#include <utility>

namespace mortise::detail {

namespace {

constexpr std::size_t waiting_max = 4'096;  // a slower sink misses events

}  // namespace

Subscription EventHub::subscribe(NodeEventSink sink) {
    auto line = std::make_shared<Line>(std::move(sink), waiting_max);
    lines_.with([&](auto& lines) {
        std::erase_if(lines, [](const auto& weak) { return weak.expired(); });
        lines.push_back(line);
    });
    return Line::subscription_of(std::move(line));
}

void EventHub::publish(const NodeEvent& event) noexcept {
    try {
        const auto lines = lines_.with([](const auto& present) { return present; });
        for (const auto& weak : lines) {
            if (const auto line = weak.lock()) line->add(event, notifier_);
        }
    } catch (const std::bad_alloc&) {  // losing an event is better than losing the node
    }
}

}  // namespace mortise::detail
