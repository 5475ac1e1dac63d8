// The queue of log lines: lines arrive in order, the rest is counted, and the end comes once nobody
// can write any more.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "tests/capi/one_c_node.hpp"
#include "tests/support/child.hpp"

namespace mortise::capi {
namespace {

class CLogQueue : public ::testing::Test {
protected:
    ~CLogQueue() override {
        mortise_node_free(node_);
        mortise_config_free(config_);
        mortise_log_queue_free(queue_);
    }
    void open(std::size_t lines_max) {
        ASSERT_EQ(mortise_config_in_memory(&config_, nullptr), MORTISE_OK);
        ASSERT_EQ(mortise_config_queue_log(config_, MORTISE_LOG_DEBUG, lines_max, &queue_, nullptr),
                  MORTISE_OK);
        ASSERT_EQ(mortise_node_open(config_, &node_, nullptr), MORTISE_OK);
        ASSERT_EQ(mortise_node_wait_ready(node_, patience, nullptr), MORTISE_OK);
    }
    // After that nobody can write.
    void free_writers() {
        mortise_node_free(std::exchange(node_, nullptr));
        mortise_config_free(std::exchange(config_, nullptr));
    }
    mortise_log_line next() {
        mortise_log_line line{};
        line.size = sizeof line;
        EXPECT_EQ(mortise_log_queue_next(queue_, &line, nullptr), MORTISE_OK);
        EXPECT_EQ(line.size, sizeof line);
        return line;
    }
    // All lines until the end, and how many were dropped between them.
    std::vector<std::string> rest(std::uint64_t& dropped) {
        std::vector<std::string> texts;
        auto line = next();
        for (; line.text != nullptr; line = next()) {
            EXPECT_EQ(line.text[line.length], '\0');
            texts.emplace_back(line.text, line.length);
            dropped += line.dropped;
        }
        dropped += line.dropped;
        return texts;
    }

    mortise_config* config_ = nullptr;
    mortise_node* node_ = nullptr;
    mortise_log_queue* queue_ = nullptr;
};

TEST_F(CLogQueue, HasEveryLineAndThenTheEnd) {
    open(1000);
    free_writers();
    std::uint64_t dropped = 0;
    const auto texts = rest(dropped);
    EXPECT_GT(texts.size(), 2U);
    EXPECT_EQ(dropped, 0U);
    for (const auto& text : texts)
        EXPECT_EQ(text.find("mortise node 1: "), 0U) << text;
    EXPECT_EQ(next().text, nullptr);
}

TEST_F(CLogQueue, CountsWhatItDrops) {
    open(1);
    free_writers();
    std::uint64_t dropped = 0;
    EXPECT_EQ(rest(dropped).size(), 1U);
    EXPECT_GT(dropped, 1U);
}

TEST_F(CLogQueue, SaysBeforeWhichLineItDroppedOthers) {
    open(1);
    const auto first = next();
    EXPECT_NE(first.text, nullptr);
    EXPECT_EQ(first.dropped, 0U);
    mortise_node_free(std::exchange(node_, nullptr));
    const auto second = next();
    EXPECT_NE(second.text, nullptr);
    EXPECT_GT(second.dropped, 0U);
}

TEST_F(CLogQueue, EndsAWaitWhenItIsClosed) {
    open(1000);
    std::jthread closing{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        mortise_log_queue_close(queue_);
    }};
    std::uint64_t dropped = 0;
    EXPECT_GT(rest(dropped).size(), 0U);  // waits for the end
}

TEST_F(CLogQueue, MayBeFreedBeforeItsNodes) {
    open(1000);
    mortise_log_queue_free(std::exchange(queue_, nullptr));
    EXPECT_EQ(mortise_node_wait_ready(node_, patience, nullptr), MORTISE_OK);
}

TEST_F(CLogQueue, EndsWhenTheConfigGetsAnother) {
    open(1000);
    mortise_node_free(std::exchange(node_, nullptr));
    EXPECT_EQ(mortise_config_set_log(config_, MORTISE_LOG_OFF, nullptr, nullptr, nullptr, nullptr),
              MORTISE_OK);
    std::uint64_t dropped = 0;
    EXPECT_GT(rest(dropped).size(), 0U);
}

TEST_F(CLogQueue, HasNoLinesInTheChildOfAFork) {
    open(1000);
    EXPECT_EQ(tests::exit_of_child([&] {
                  const bool is_end = next().text == nullptr;
                  mortise_log_queue_free(queue_);
                  return is_end ? 0 : 1;
              }),
              0);
}

TEST_F(CLogQueue, RefusesWrongArguments) {
    open(1000);
    mortise_log_queue* other = nullptr;
    const auto refuses = [&](mortise_config* config, int level, std::size_t lines_max) {
        EXPECT_EQ(mortise_config_queue_log(config, level, lines_max, &other, nullptr),
                  MORTISE_INVALID_ARGUMENT);
        EXPECT_EQ(other, nullptr);
    };
    refuses(nullptr, MORTISE_LOG_INFO, 1);
    refuses(config_, MORTISE_LOG_OFF + 1, 1);
    refuses(config_, MORTISE_LOG_INFO, 0);
    refuses(config_, MORTISE_LOG_INFO, 65'537);
    EXPECT_EQ(mortise_config_queue_log(config_, MORTISE_LOG_INFO, 1, nullptr, nullptr),
              MORTISE_INVALID_ARGUMENT);
    mortise_log_line line{};  // without its size: no line is taken
    EXPECT_EQ(mortise_log_queue_next(queue_, &line, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_log_queue_next(nullptr, &line, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_log_queue_next(queue_, nullptr, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_NE(next().text, nullptr);
    mortise_log_queue_close(nullptr);
    mortise_log_queue_free(nullptr);
}

}  // namespace
}  // namespace mortise::capi
