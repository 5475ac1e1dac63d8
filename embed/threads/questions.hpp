// Questions of other threads to the core thread. The asking threads wait for the answers.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"
#include "embed/threads/guarded.hpp"

namespace mortise::detail {

// What a thread waits for. Unlike std::promise it needs no memory when nobody answers, so a thread
// without memory does not end the program.
template <class T>
class AwaitedAnswer {
public:
    void give(T answer) {
        const std::lock_guard guard{mutex_};
        answer_ = std::move(answer);
        is_over_ = true;
        given_.notify_one();
    }
    // There will be no answer.
    void end() noexcept {
        const std::lock_guard guard{mutex_};
        is_over_ = true;
        given_.notify_one();
    }
    [[nodiscard]] std::optional<T> wait_for(core::Nanoseconds patience) {
        std::unique_lock lock{mutex_};
        given_.wait_for(lock, patience, [&] { return is_over_; });
        return std::move(answer_);
    }

private:
    std::mutex mutex_;
    std::condition_variable given_;
    std::optional<T> answer_;
    bool is_over_ = false;
};

// Ends the wait when it is gone.
template <class T>
class GivesAnswer {
public:
    explicit GivesAnswer(std::shared_ptr<AwaitedAnswer<T>> to) : to_{std::move(to)} {}
    ~GivesAnswer() { to_->end(); }
    GivesAnswer(const GivesAnswer&) = delete;
    GivesAnswer& operator=(const GivesAnswer&) = delete;

    void give(T answer) const { to_->give(std::move(answer)); }

private:
    const std::shared_ptr<AwaitedAnswer<T>> to_;
};

// Thread-safe.
class Questions {
public:
    // `wake` is called on any thread after a question; answer_all() follows, unless close() does.
    explicit Questions(std::function<void()> wake) : wake_{std::move(wake)} {}

    // Empty if the answer did not come in time, or will never come.
    template <class F>
    auto ask(F question, core::Nanoseconds patience) -> std::optional<std::invoke_result_t<F>> {
        using Answer = std::invoke_result_t<F>;
        const auto awaited = std::make_shared<AwaitedAnswer<Answer>>();
        auto gives = std::make_shared<GivesAnswer<Answer>>(awaited);
        const bool is_asked = asked_.with([&](std::optional<Asked>& asked) {
            if (!asked) return false;
            // This function is the only owner of what gives the answer.
            asked->push_back([gives = std::move(gives), question = std::move(question)] {
                gives->give(question());
            });
            return true;
        });
        if (!is_asked) return std::nullopt;
        wake_();
        return awaited->wait_for(patience);
    }

    void answer_all() {
        const auto asked = asked_.with([](std::optional<Asked>& waiting) {
            return waiting ? std::exchange(*waiting, {}) : Asked{};
        });
        for (const auto& question : asked)
            question();
    }

    // Waiting threads get no answer, and neither do later questions.
    void close() {
        asked_.with([](std::optional<Asked>& asked) { return std::exchange(asked, std::nullopt); });
    }

private:
    using Asked = std::vector<std::function<void()>>;

    const std::function<void()> wake_;
    Guarded<std::optional<Asked>> asked_{Asked{}};
};

}  // namespace mortise::detail
