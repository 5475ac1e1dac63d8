#include "embed/door/feed.hpp"

#include <utility>

namespace mortise::door {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto silence_max = 15s;

}  // namespace

Feed::Feed(std::shared_ptr<http::Waker> waker, std::string head, std::string alive,
           std::shared_ptr<void> place)
    : waker_{std::move(waker)},
      alive_{std::move(alive)},
      place_{std::move(place)},
      said_{Clock::now()},
      text_{std::move(head)} {}

void Feed::put(const std::string& text) {
    {
        std::unique_lock lock{mutex_};
        const bool has_room = has_room_.wait_for(
            lock, wait_max, [&] { return is_over_ || text_.size() < bytes_max; });
        if (is_over_) return;
        is_over_ = !has_room;
        if (has_room) text_ += text;
    }
    waker_->wake(number());
}

void Feed::keep(Subscription subscription) {
    subscription_ = std::move(subscription);
}

// What is not sent stays here, where it is bounded.
bool Feed::say(std::string& text, bool /*all_received*/) {
    const auto now = Clock::now();
    bool is_over = false;
    {
        const std::lock_guard lock{mutex_};
        if (text.empty()) text = std::exchange(text_, {});
        is_over = is_over_;
    }
    has_room_.notify_all();
    if (text.empty() && now - said_ > silence_max) text = alive_;
    if (!text.empty()) said_ = now;
    if (is_over) subscription_.reset();
    return !is_over;
}

void Feed::gone(Gone /*how*/) noexcept {
    {
        const std::lock_guard lock{mutex_};
        is_over_ = true;
    }
    has_room_.notify_all();
    subscription_.reset();
}

}  // namespace mortise::door
