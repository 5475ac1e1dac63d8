// A stream of events that goes on until its client has gone, or is too slow.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "embed/http/parked.hpp"
#include <mortise/subscription.hpp>

namespace mortise::door {

class Feed final : public http::Parked {
public:
    // What is not sent yet. When there is more, whoever puts something waits, and then the stream
    // ends: its client may go on with a new one.
    static constexpr std::size_t bytes_max = std::size_t{256} << 10U;
    static constexpr std::chrono::seconds wait_max{5};

    // `head` is said first, and `alive` when nothing was said for a while. `place` is kept as long
    // as it exists.
    Feed(std::shared_ptr<http::Waker> waker, std::string head, std::string alive,
         std::shared_ptr<void> place);

    // Any thread but the loop's.
    void put(const std::string& text);
    // What puts into it, until the client has gone.
    void keep(Subscription subscription);

    [[nodiscard]] bool say(std::string& text, bool all_received) override;
    void gone(Gone how) noexcept override;

private:
    const std::shared_ptr<http::Waker> waker_;
    const std::string alive_;
    const std::shared_ptr<void> place_;
    std::chrono::steady_clock::time_point said_;
    std::optional<Subscription> subscription_;

    std::mutex mutex_;
    std::condition_variable has_room_;
    std::string text_;
    bool is_over_ = false;
};

}  // namespace mortise::door
