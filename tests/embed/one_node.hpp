#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <mortise/mortise.hpp>

namespace mortise {

// Long enough not to be a limit: a test takes this long only if it hangs.
constexpr std::chrono::seconds patience{30};

// Returns as soon as the hold is lost, or after `longest`, whether it is.
inline bool is_lost_within(const Hold& hold, std::chrono::milliseconds longest) {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    const auto lost = hold.lost();
    std::condition_variable_any nobody;
    nobody.wait_for(lock, lost, longest, [&] { return lost.stop_requested(); });
    return lost.stop_requested();
}

inline bool is_lost(const Hold& hold) {
    return is_lost_within(hold, patience);
}

// The error of a call that throws; none if it does not.
template <class Call>
std::error_code thrown_by(const Call& call) {
    try {
        call();
    } catch (const LockError& error) {
        return error.code();
    }
    return {};
}

// A cluster of one node, in memory, with a session.
class OneNode : public ::testing::Test {
protected:
    OneNode() { ready_ = node_.wait_ready(std::chrono::steady_clock::now() + patience); }
    void SetUp() override { ASSERT_TRUE(ready_) << node_.status().why_not_ready; }

    // Returns true as soon as that many requests wait for the name; false if they do not in time.
    bool wait_for_waiters(const char* name, std::size_t count) {
        const auto give_up = std::chrono::steady_clock::now() + patience;
        while (node_.inspect(name).waiters.size() != count) {
            if (std::chrono::steady_clock::now() > give_up) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        return true;
    }

    Node node_{Config::in_memory()};

private:
    bool ready_ = false;
};

}  // namespace mortise
