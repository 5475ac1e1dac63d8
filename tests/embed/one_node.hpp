#pragma once

#include <chrono>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <mortise/mortise.hpp>

namespace mortise {

// Long enough to be no limit: nothing here waits for it unless it hangs.
constexpr std::chrono::seconds patience{30};

// A cluster of one, in memory, with a session.
class OneNode : public testing::Test {
protected:
    OneNode() { ready_ = node_.wait_ready(std::chrono::steady_clock::now() + patience); }
    void SetUp() override { ASSERT_TRUE(ready_) << node_.status().why_not_ready; }

    // True as soon as that many wait for the name; false if that does not come to pass.
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
