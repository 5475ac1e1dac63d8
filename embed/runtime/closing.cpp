#include "embed/runtime/closing.hpp"

#include <new>
#include <utility>

#include "embed/threads/notifier.hpp"

namespace mortise::detail {

void Closing::here() {
    const std::scoped_lock lock{closing_};
    if (done_) return;
    end_();
    done_ = true;
}

Closing::Outcome Closing::close(std::shared_ptr<void> node, bool is_own_thread,
                                core::Nanoseconds patience) {
    if (done_) return Outcome::done;
    const auto closed = elsewhere(node);
    if (is_own_thread) {
        if (closed) return Outcome::begun;
        kept_ = std::move(node);
        return Outcome::kept;
    }
    if (!closed) {
        here();
        return Outcome::done;
    }
    is_quiet_.wait();
    return closed->wait_for(patience) == std::future_status::timeout ? Outcome::unresponsive
                                                                     : Outcome::done;
}

void Closing::close_in_time(std::shared_ptr<void> node, core::Nanoseconds patience) noexcept {
    if (done_) return;
    const auto closed = elsewhere(std::move(node));
    if (!closed) return here();  // allocates nothing
    closed->wait_for(patience);
}

std::optional<std::future<void>> Closing::elsewhere(std::shared_ptr<void> node) noexcept {
    try {
        const auto closed = std::make_shared<std::promise<void>>();
        auto future = closed->get_future();
        const bool begun = run_elsewhere([this, node = std::move(node), closed]() mutable {
            here();
            node.reset();
            closed->set_value();
        });
        return begun ? std::optional{std::move(future)} : std::nullopt;
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    }
}

}  // namespace mortise::detail
