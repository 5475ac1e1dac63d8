#include "embed/door/grant.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <mortise/detail/start.hpp>

namespace mortise::door {

namespace {

using http::Json;

Json json_of_hold(const Hold& hold) {
    Json json{{"name", http::json_text(hold.name())},
              {"mode", to_string(hold.mode())},
              {"token", to_string(hold.token())}};
    if (!hold.slots().empty()) {
        json["slots"] = Json::array();
        for (const auto& slot : hold.slots())
            json["slots"].push_back(slot.number);
    }
    const auto previous = hold.previous();
    json["previous"] = to_string(previous.how);
    return json;
}

}  // namespace

Grant::Grant(Hold hold) : hold_{std::move(hold)}, parts_{detail::parts_of(hold_)} {}

Json Grant::json() const {
    if (parts_.empty()) return json_of_hold(hold_);
    auto all = Json::array();
    for (const auto& part : parts_)
        all.push_back(json_of_hold(part));
    return {{"locks", std::move(all)}};
}

std::int64_t ms_between(BootClock::time_point from, BootClock::time_point to) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(to - from).count();
    return std::max<std::int64_t>(left, 0);
}

}  // namespace mortise::door
