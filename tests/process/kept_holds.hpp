// The holds of a worker by name, and what it is told to do with one of them.
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

    // "held NAME TOKEN PREDECESSOR TIME" now, "lost NAME TOKEN TIME REASON" if it comes to that.
    void keep(RecordedHold got);
    // "released NAME".
    void release(const std::string& name);

    // "valid NAME yes", or no.
    void is_valid(const std::string& name);
    // In the background: "confirmed NAME".
    void confirm(const std::string& name);
    // "wrote NAME".
    void write(const std::string& name, const std::string& bytes);
    // "vouched NAME".
    void vouch(const std::string& name);
    // Says that it gets on, in the background, until it rests or the hold is not valid any more.
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

// "DONE NAME", or "error NAME ...".
void say_outcome(const std::error_code& ec, const std::string& done, const std::string& name);

}  // namespace mortise::tests
