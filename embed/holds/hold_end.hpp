// The end of a hold: it comes once, whatever the cause.
#pragma once

#include <atomic>
#include <cstdint>

#include <mortise/enums.hpp>

namespace mortise::detail {

// Thread-safe. It has two bytes, which fit into the padding of a HoldRecord.
class HoldEnd {
public:
    enum class Kind : std::uint8_t { none, released, expired, broken, node_stopped, forked };

    // The kind for a loss; `none` for none.
    [[nodiscard]] static constexpr Kind of(LossReason why) {
        switch (why) {
            case LossReason::none: break;
            case LossReason::expired: return Kind::expired;
            case LossReason::broken: return Kind::broken;
            case LossReason::node_stopped: return Kind::node_stopped;
            case LossReason::forked: return Kind::forked;
        }
        return Kind::none;
    }
    // Which loss it is; none if it is no loss.
    [[nodiscard]] static constexpr LossReason loss_of(Kind kind) {
        switch (kind) {
            case Kind::expired: return LossReason::expired;
            case Kind::broken: return LossReason::broken;
            case Kind::node_stopped: return LossReason::node_stopped;
            case Kind::forked: return LossReason::forked;
            case Kind::none:
            case Kind::released: break;
        }
        return LossReason::none;
    }

    [[nodiscard]] Kind kind() const { return kind_.load(); }
    // True if this call ended it. There has to be a kind.
    bool end(Kind kind) {
        auto none = Kind::none;
        return kind_.compare_exchange_strong(none, kind);
    }

    void set_given_back() noexcept {
        given_back_.store(true, std::memory_order_release);
        given_back_.notify_all();
    }
    void wait_until_given_back() const noexcept {
        given_back_.wait(false, std::memory_order_acquire);
    }

private:
    // how it has ended: set by end()
    std::atomic<Kind> kind_{Kind::none};
    // its release is queued ahead of any later request: set by set_given_back()
    std::atomic<bool> given_back_{false};
};

}  // namespace mortise::detail
