// Questions of other threads to the core thread. The asking threads wait for the answers.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"
#include "embed/threads/guarded.hpp"

namespace mortise::detail {

// Thread-safe.
class Questions {
public:
    // `wake` is called on any thread after a question; answer_all() follows, unless close() does.
    explicit Questions(std::function<void()> wake) : wake_{std::move(wake)} {}

    // Empty if the answer did not come in time, or will never come.
    template <class F>
    auto ask(F question, core::Nanoseconds patience) -> std::optional<std::invoke_result_t<F>> {
        auto answer = std::make_shared<std::promise<std::invoke_result_t<F>>>();
        auto future = answer->get_future();
        const bool is_asked = asked_.with([&](std::optional<Asked>& asked) {
            if (!asked) return false;
            // This function is the only owner of the promise, which breaks with it.
            asked->push_back([answer = std::move(answer), question = std::move(question)] {
                answer->set_value(question());
            });
            return true;
        });
        if (!is_asked) return std::nullopt;
        wake_();
        if (future.wait_for(patience) != std::future_status::ready) return std::nullopt;
        try {
            return future.get();
        } catch (const std::future_error&) {  // closed
            return std::nullopt;
        }
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
