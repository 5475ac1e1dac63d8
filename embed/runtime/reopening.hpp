// Attempts to open a data directory again, on a thread of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace mortise::detail {

// Thread-safe. What is opened, and when that has succeeded, is the owner's business.
class Reopening {
public:
    static constexpr std::chrono::milliseconds pause_min{100};
    static constexpr std::chrono::milliseconds pause_max{5'000};
    // The pause after `pause`: they double, up to the longest.
    [[nodiscard]] static std::chrono::milliseconds after(std::chrono::milliseconds pause);

    // Everything is called on the thread.
    struct Work {
        std::function<void()> prepare;  // once, before the first pause
        // After each pause. False if there has to be another attempt.
        std::function<bool(std::chrono::milliseconds pause)> attempt;
        std::function<void(const std::string& why)> failed;  // an exception ended the work
    };

    // Starts the thread, with the first pause; does nothing after refuse(). The thread of an
    // earlier call must have made its last attempt. Throws std::system_error if no thread can be
    // started.
    void begin(std::chrono::milliseconds pause, Work work);
    // No attempt begins any more; one that is under way goes on.
    void refuse();
    // Waits for the end of the thread. Requires refuse().
    void await();

private:
    void run(std::chrono::milliseconds pause, const Work& work);
    // False if it was refused meanwhile.
    [[nodiscard]] bool wait(std::chrono::milliseconds pause);

    std::mutex mutex_;
    // notified by refuse()
    std::condition_variable changed_;
    // guarded by the mutex: set by refuse(), for ever
    bool is_refused_ = false;
    // the thread of the newest begin(): guarded by the mutex until refuse()
    std::thread thread_;
};

}  // namespace mortise::detail
