// A cluster of one node in memory, through the C interface.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>
#include <mortise.h>

namespace mortise::capi {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t patience = 30'000 * ms;  // a test takes this long only if it hangs

// Frees what it shows.
inline std::string message_of(mortise_error* error) {
    std::string message = mortise_error_message(error, nullptr);
    mortise_error_free(error);
    return message;
}

// Calls a function whose last parameters receive a text, its length and the error. Frees the text.
template <class Call>
std::string text_told(const Call& call) {
    char* text = nullptr;
    std::size_t length = 0;
    mortise_error* error = nullptr;
    EXPECT_EQ(call(&text, &length, &error), MORTISE_OK) << message_of(error);
    if (text == nullptr) return {};
    EXPECT_EQ(text[length], '\0');
    std::string told{text, length};
    mortise_bytes_free(text);
    return told;
}

template <class Condition>
bool comes_true(const Condition& condition) {
    for (int i = 0; i < 30'000 && !condition(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return condition();
}

inline mortise_node* open_in_memory() {
    mortise_config* config = nullptr;
    mortise_node* node = nullptr;
    EXPECT_EQ(mortise_config_in_memory(&config, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_config_set_log(config, MORTISE_LOG_OFF, nullptr, nullptr, nullptr, nullptr),
              MORTISE_OK);
    EXPECT_EQ(mortise_node_open(config, &node, nullptr), MORTISE_OK);
    mortise_config_free(config);
    return node;
}

class OneCNode : public ::testing::Test {
protected:
    OneCNode() { EXPECT_EQ(mortise_node_wait_ready(node_, patience, nullptr), MORTISE_OK); }
    ~OneCNode() override { mortise_node_free(node_); }

    mortise_hold* acquire(std::string_view name, const mortise_acquire_options* options = nullptr) {
        mortise_hold* hold = nullptr;
        mortise_error* error = nullptr;
        const int code =
            mortise_node_acquire(node_, name.data(), name.size(), options, &hold, &error);
        EXPECT_EQ(code, MORTISE_OK) << mortise_error_message(error, nullptr);
        mortise_error_free(error);
        return hold;
    }
    int try_acquire(std::string_view name, mortise_hold** hold) {
        return mortise_node_try_acquire(node_, name.data(), name.size(), nullptr, hold, nullptr);
    }
    // A hold that is lost after that time.
    mortise_hold* acquire_for_a_while(std::string_view name, std::int64_t max_hold_ns) {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.max_hold_ns = max_hold_ns;
        return acquire(name, &options);
    }

    mortise_node* node_ = open_in_memory();
};

// Counts what happens to one context.
struct Calls {
    std::atomic<int> lost = 0;
    std::atomic<int> destroyed = 0;
    std::atomic<bool> destroyed_first = false;
};

inline void count_lost(void* context) {
    auto& calls = *static_cast<Calls*>(context);
    if (calls.destroyed > 0) calls.destroyed_first = true;
    ++calls.lost;
}

inline void count_destroyed(void* context) {
    ++static_cast<Calls*>(context)->destroyed;
}

}  // namespace mortise::capi
