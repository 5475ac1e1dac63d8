#include "embed/door/grant.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

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

// The value is removed, and then the name is free: a follower is told of the next leader behind
// that.
class Grant::Resigning final : public detail::Finish {
public:
    explicit Resigning(std::shared_ptr<Grant> grant) : grant_{std::move(grant)} {}
    void operator()(std::error_code /*error*/, Hold /*none*/) override { grant_->hold_.unlock(); }

private:
    const std::shared_ptr<Grant> grant_;
};

Grant::Grant(Hold hold, bool leads)
    : hold_{std::move(hold)}, leads_{leads}, parts_{detail::parts_of(hold_)} {}

http::Refusal Grant::refusal(std::error_code failure) const {
    auto refusal = http::refusal_of(LockError{failure});
    if (state() == HoldState::lost) refusal.reason = "why: " + std::string{to_string(why_lost())};
    return refusal;
}

std::error_code Grant::release() noexcept {
    std::error_code ignored;  // without its leader the value means nothing
    try {
        if (leads_) hold_.set_value({}, ignored);
    } catch (const std::bad_alloc&) {  // it stays
    }
    return hold_.release();
}

void Grant::unlock() noexcept {
    try {
        if (leads_)
            return detail::start_set_value(hold_, {},
                                           std::make_unique<Resigning>(shared_from_this()));
    } catch (const std::bad_alloc&) {  // the value stays
    }
    hold_.unlock();
}

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
