// The stop token of a hold's loss. Most owners never ask for one, so its state is made for the
// first who does; and where nobody did, a loss need not wait for the notification.
#pragma once

#include <atomic>
#include <stop_token>

namespace mortise::detail {

// Thread-safe.
class LossSignal {
public:
    LossSignal() { (void)stopped(); }  // so that it is there when memory is not
    ~LossSignal();
    LossSignal(const LossSignal&) = delete;
    LossSignal& operator=(const LossSignal&) = delete;

    // A stop is requested by give(). It was requested already if give() or ends_unheard() came
    // before, because then nobody will notify the owner; and if there is no memory, because an
    // owner who cannot be notified must not go on.
    [[nodiscard]] std::stop_token token() noexcept;
    // Requests the stop, which runs the callbacks of the owner.
    void give();
    // Called when the loss is marked, so a thread that is too late finds a lost hold. True if
    // nobody has a token.
    [[nodiscard]] bool ends_unheard();
    // True if none of these was called.
    [[nodiscard]] bool is_untouched() const { return source_.load() == nullptr; }

private:
    [[nodiscard]] static std::stop_source* stopped();

    // It is null, or the source of all tokens, or stopped(). The first caller sets it, once.
    std::atomic<std::stop_source*> source_{nullptr};
};

}  // namespace mortise::detail
