// The lost callback of one hold of the C interface.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include <mortise.h>

namespace mortise::capi {

// Calls destroy once, when nobody needs the context any more.
class CallbackContext {
public:
    CallbackContext(void* context, void (*destroy)(void*)) noexcept
        : context_{context}, destroy_{destroy} {}
    CallbackContext(CallbackContext&& other) noexcept
        : context_{other.context_}, destroy_{std::exchange(other.destroy_, nullptr)} {}
    CallbackContext& operator=(CallbackContext&&) = delete;
    ~CallbackContext() {
        if (destroy_ != nullptr) destroy_(context_);
    }
    [[nodiscard]] void* get() const noexcept { return context_; }

private:
    void* context_;
    void (*destroy_)(void*);
};

// Shared by the hold and a call that sets its callback, because that callback may free the hold.
class LostWatch {
public:
    // Throws Misuse for a second callback, LockError with not_held after end().
    void begin(const std::stop_token& lost, mortise_lost_callback callback,
               CallbackContext&& context);
    // The callback is not called any more. Waits for one that runs on another thread.
    void end() noexcept;

private:
    struct Callback {
        mortise_lost_callback call;
        CallbackContext context;
    };
    // Its only owner of the callback lets go of it after the call, so that the context is destroyed
    // when the hold is lost, even if the call has freed the hold.
    struct Fire {
        std::shared_ptr<Callback> callback;
        void operator()() noexcept;
    };
    using Registration = std::stop_callback<Fire>;

    void keep(std::unique_ptr<Registration> registration) noexcept;

    // Not held while code of the program runs.
    std::mutex mutex_;
    bool has_begun_ = false;
    bool has_ended_ = false;
    std::unique_ptr<Registration> registration_;
};

}  // namespace mortise::capi
