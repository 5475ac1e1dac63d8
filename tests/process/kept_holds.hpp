// The holds of a worker by name, and the commands for them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "tests/process/recorded_calls.hpp"
#include <mortise/mortise.hpp>

namespace mortise::tests {

class KeptHolds {
public:
    explicit KeptHolds(RecordedCalls& calls) : calls_{calls} {}

    // Prints "held NAME TOKEN PREDECESSOR TIME" now, and "lost NAME TOKEN TIME REASON" after a
    // loss.
    void keep(RecordedHold got);
    // Prints "released NAME".
    void release(const std::string& name);

    // Prints "valid NAME yes", or no.
    void is_valid(const std::string& name);
    // Prints "confirmed NAME", in the background.
    void confirm(const std::string& name);
    // Prints "wrote NAME".
    void write(const std::string& name, const std::string& bytes);
    // Prints "vouched NAME".
    void vouch(const std::string& name);
    // Reports progress in the background, until it is told to rest or the hold is not valid any
    // more.
    void work(const std::string& name);
    void rest(const std::string& name);

private:
    struct Kept {
        std::shared_ptr<Hold> hold;
        std::unique_ptr<std::stop_callback<std::function<void()>>> on_lost;
        std::stop_source rests{};
    };

    Kept& of(const std::string& name) { return holds_.at(name); }
    [[nodiscard]] std::shared_ptr<Hold> hold_of(const std::string& name);

    RecordedCalls& calls_;
    std::mutex mutex_;
    std::map<std::string, Kept> holds_;
};

// Prints "DONE NAME", or "error NAME ...".
void say_outcome(const std::error_code& ec, const std::string& done, const std::string& name);

}  // namespace mortise::tests
