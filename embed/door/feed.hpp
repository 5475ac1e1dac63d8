// A stream of events that goes on until its client has gone, or is too slow.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "embed/http/parked.hpp"
#include <mortise/subscription.hpp>

namespace mortise::door {

class Feed final : public http::Parked, public std::enable_shared_from_this<Feed> {
public:
    // What is not sent yet; when more comes the stream ends, and its client may begin anew.
    static constexpr std::size_t bytes_max = std::size_t{512} << 10U;

    // `head` is said first, and `alive` when nothing was said for a while.
    Feed(std::shared_ptr<http::Waker> waker, std::string head, std::string alive);

    // Any thread.
    void put(const std::string& text);
    // What puts into it, until the client has gone.
    void keep(Subscription subscription);

    [[nodiscard]] bool say(std::string& text, bool all_received) override;
    void gone(Gone how) noexcept override;

private:
    const std::shared_ptr<http::Waker> waker_;
    const std::string alive_;
    std::chrono::steady_clock::time_point said_;
    std::optional<Subscription> subscription_;

    std::mutex mutex_;
    std::string text_;
    bool is_over_ = false;
};

}  // namespace mortise::door
