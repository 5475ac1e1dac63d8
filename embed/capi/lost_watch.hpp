// The lost callback of one hold of the C interface.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include <mortise.h>
#include <sys/types.h>

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

// Shared by the hold and the call of its callback, because that callback may free the hold.
//
// std::stop_callback alone does not do: its destructor waits for a callback on another thread, so
// that two callbacks that release each other's holds would wait for ever.
class LostWatch : public std::enable_shared_from_this<LostWatch> {
public:
    LostWatch() noexcept;
    // Throws Misuse for a second callback, LockError with not_held after end(), with forked in the
    // child of a fork.
    void begin(const std::stop_token& lost, mortise_lost_callback callback,
               CallbackContext&& context);
    // The callback is not called any more. Waits for one that runs, unless this thread is itself in
    // a lost callback, of any hold. In the child of a fork it does nothing: a thread that exists
    // only in the parent may own the mutex or run the callback.
    void end() noexcept;
    // True in the child of a fork.
    [[nodiscard]] bool is_of_parent() const noexcept;

private:
    struct Callback {
        mortise_lost_callback call;
        CallbackContext context;
    };
    // Owns the watch, so that the watch outlives its callback, and in the child of a fork is never
    // destroyed.
    struct Fire {
        std::shared_ptr<LostWatch> watch;
        void operator()() noexcept;
    };
    using Registration = std::stop_callback<Fire>;

    void set(std::unique_ptr<Callback> callback);
    void keep(std::unique_ptr<Registration> registration) noexcept;
    void fire() noexcept;
    [[nodiscard]] std::unique_ptr<Callback> start() noexcept;
    void finish() noexcept;

    const pid_t process_;
    // Not held while code of the program runs, or a registration is destroyed.
    std::mutex mutex_;
    std::condition_variable is_finished_;
    bool has_begun_ = false;
    bool has_ended_ = false;
    bool is_running_ = false;
    // The thread that takes it either calls it or destroys its context, so each happens at most
    // once.
    std::unique_ptr<Callback> callback_;
    // While the callback runs only its own thread may destroy it, which then does not wait.
    std::unique_ptr<Registration> registration_;
};

}  // namespace mortise::capi
