#include "embed/holds/grant_word.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

// Released, and lent with so many tokens.
void lend(GrantWord& word) {
    ASSERT_TRUE(word.release());
    word.lend();
}

TEST(GrantWord, IsTakenAndPutBackWhileItIsLent) {  // S39
    GrantWord word{3};
    EXPECT_TRUE(word.is_in_use());
    EXPECT_FALSE(word.take());
    EXPECT_FALSE(word.put_back());
    lend(word);
    EXPECT_FALSE(word.is_in_use());
    EXPECT_FALSE(word.put_back());
    EXPECT_TRUE(word.take());
    EXPECT_TRUE(word.is_in_use());
    EXPECT_FALSE(word.take());  // it has one user
    EXPECT_EQ(word.tokens_left(), 2U);
    EXPECT_TRUE(word.put_back());
    EXPECT_FALSE(word.put_back());
    EXPECT_EQ(word.tokens_left(), 2U);
}

TEST(GrantWord, TheTokenOfAUseOfWhichNobodyWasToldIsTheNextOneAgain) {  // S23
    GrantWord word{1};
    EXPECT_FALSE(word.put_back_unused());
    lend(word);
    EXPECT_FALSE(word.put_back_unused());
    EXPECT_TRUE(word.take());
    EXPECT_TRUE(word.put_back_unused());
    EXPECT_EQ(word.tokens_left(), 1U);
    EXPECT_FALSE(word.is_in_use());
    EXPECT_TRUE(word.take());
    EXPECT_TRUE(word.end_loan().in_use);
    EXPECT_FALSE(word.put_back_unused());  // the cache has seen the use
    EXPECT_TRUE(word.is_in_use());
}

TEST(GrantWord, ItsLastTokenGoesBackToTheCache) {  // S39
    GrantWord word{1};
    lend(word);
    EXPECT_TRUE(word.take());
    EXPECT_EQ(word.tokens_left(), 0U);
    EXPECT_FALSE(word.put_back());
    EXPECT_TRUE(word.release());
    EXPECT_TRUE(word.end_loan().in_use);
}

TEST(GrantWord, NobodyTakesItAfterTheEndOfTheLoan) {  // S40
    GrantWord word{5};
    lend(word);
    EXPECT_TRUE(word.take());
    EXPECT_TRUE(word.put_back());
    const auto loan = word.end_loan();
    EXPECT_FALSE(loan.in_use);
    EXPECT_EQ(loan.tokens_left, 4U);
    EXPECT_FALSE(word.take());
}

TEST(GrantWord, TheUserAtTheEndOfTheLoanReleasesItToTheCache) {  // S40
    GrantWord word{5};
    lend(word);
    EXPECT_TRUE(word.take());
    const auto loan = word.end_loan();
    EXPECT_TRUE(loan.in_use);
    EXPECT_EQ(loan.tokens_left, 4U);
    EXPECT_FALSE(word.put_back());
    EXPECT_TRUE(word.is_in_use());
    EXPECT_TRUE(word.release());
    EXPECT_FALSE(word.release());
    EXPECT_FALSE(word.is_in_use());
}

// Two threads release the same hold: the second waits until the release is known to the cache.
TEST(GrantWord, AReleaseToTheCacheIsAwaited) {  // S20
    for (const bool stays : {true, false}) {
        GrantWord word{5};
        EXPECT_TRUE(word.release());
        auto waits = std::async(std::launch::async, [&] { word.wait_until_given_back(); });
        EXPECT_EQ(waits.wait_for(10ms), std::future_status::timeout);
        if (stays) word.lend();
        word.given_back();
        waits.get();
        EXPECT_EQ(word.take(), stays);
    }
}

TEST(GrantWord, AnotherUseBegins) {
    GrantWord word{5};
    lend(word);
    (void)word.end_loan();
    word.begin_anew(3);
    EXPECT_TRUE(word.is_in_use());
    EXPECT_EQ(word.tokens_left(), 3U);
    EXPECT_FALSE(word.put_back());
}

// Users that take the grant by the word or by the cache, somebody who ends the loan again and
// again, and a lease that ends: the program's part of P1 and P2.
class GrantWordStress : public ::testing::Test {
protected:
    static constexpr std::uint32_t tokens = 400'000;

    // What a cache knows when the grant is not lent.
    struct Cache {
        bool in_use = false;
        bool is_lent = false;
    };

    void use(std::uint32_t token) {
        EXPECT_EQ(users_.fetch_add(1), 0) << "it has one user";
        if (token < tokens) {
            EXPECT_GT(newest_left_, token) << "tokens rise";
        }
        newest_left_ = token;  // of the only user
        users_.fetch_sub(1);
    }
    void wait_for_uses() const {
        while (word_.tokens_left() > tokens - 100)
            std::this_thread::yield();
    }
    // The end of the loan, under the lock.
    void end_loan(Cache& cache) {
        if (!cache.is_lent) return;
        cache.is_lent = false;
        cache.in_use = word_.end_loan().in_use;
    }
    bool take(Cache& cache) {
        end_loan(cache);
        if (cache.in_use || word_.tokens_left() == 0) return false;
        cache.in_use = true;
        word_.begin_anew(word_.tokens_left() - 1);
        return true;
    }
    void release() {
        if (word_.put_back()) {
            ++short_ones_;
            return;
        }
        ASSERT_TRUE(word_.release());
        const std::scoped_lock lock{mutex_};
        end_loan(cache_);
        ASSERT_TRUE(cache_.in_use);
        cache_.in_use = false;
        if (word_.tokens_left() == 0 || is_over_) return word_.given_back();
        cache_.is_lent = true;
        word_.lend();
    }
    // False if all tokens are used, or the lease has ended.
    bool take_and_release() {
        bool is_taken = word_.take();
        if (!is_taken) {
            const std::scoped_lock lock{mutex_};
            if (word_.tokens_left() == 0 || is_over_) return false;
            is_taken = take(cache_);
        }
        if (!is_taken) return true;
        // A caller checks the lease after it has taken the token.
        const bool is_valid = !is_over_;
        if (is_valid) use(word_.tokens_left());
        release();
        return is_valid;
    }

    GrantWord word_{tokens};
    std::mutex mutex_;
    Cache cache_{true, false};
    std::atomic<int> users_ = 0;
    std::uint32_t newest_left_ = tokens + 1;
    std::atomic<std::uint32_t> short_ones_ = 0;
    std::atomic<bool> is_over_ = false;
};

TEST_F(GrantWordStress, OneUserAtATimeWithRisingTokens) {
    release();
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&] {
            while (take_and_release()) {
            }
        });
    }
    threads.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            {
                const std::scoped_lock lock{mutex_};
                end_loan(cache_);
            }
            std::this_thread::yield();
        }
    });
    for (std::size_t thread = 0; thread < 3; ++thread)
        threads[thread].join();
    threads.back().request_stop();
    threads.clear();
    EXPECT_EQ(word_.tokens_left(), 0U);
    EXPECT_EQ(newest_left_, 0U);
}

TEST_F(GrantWordStress, NobodyUsesItAfterARecallIsAnswered) {  // S40
    release();
    std::atomic<bool> is_answered = false;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 2; ++thread) {
        threads.emplace_back([&] {
            for (;;) {
                const bool was_answered = is_answered;
                if (!word_.take()) {
                    if (was_answered) return;
                    continue;
                }
                EXPECT_FALSE(was_answered);
                EXPECT_EQ(users_.fetch_add(1), 0);
                users_.fetch_sub(1);
                if (word_.put_back()) continue;
                ASSERT_TRUE(word_.release());  // the recall came meanwhile: it goes back now
                EXPECT_FALSE(is_answered);
                is_answered = true;
                word_.given_back();
            }
        });
    }
    wait_for_uses();
    const auto loan = word_.end_loan();
    if (!loan.in_use) is_answered = true;
    const auto left = loan.tokens_left;
    threads.clear();
    EXPECT_TRUE(is_answered);
    EXPECT_EQ(word_.tokens_left(), left);
    EXPECT_EQ(users_, 0);
}

TEST_F(GrantWordStress, TheLeaseEndsAmongTheUses) {  // S42
    release();
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 2; ++thread) {
        threads.emplace_back([&] {
            while (take_and_release()) {
            }
        });
    }
    wait_for_uses();
    is_over_ = true;
    threads.clear();
    EXPECT_FALSE(word_.is_in_use());
}

}  // namespace
}  // namespace mortise::detail
