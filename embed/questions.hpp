// What other threads ask of the core thread, and wait for.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"
#include "embed/guarded.hpp"

namespace mortise::detail {

// Thread-safe.
class Questions {
public:
    // `wake` is called on any thread when something was asked; answer_all() follows, unless close()
    // does.
    explicit Questions(std::function<void()> wake) : wake_{std::move(wake)} {}

    // Empty when the answer did not come in time, or never will.
    template <class F>
    auto ask(F question, core::Nanoseconds patience) -> std::optional<std::invoke_result_t<F>> {
        auto answer = std::make_shared<std::promise<std::invoke_result_t<F>>>();
        auto future = answer->get_future();
        const bool is_asked = asked_.with([&](std::optional<Asked>& asked) {
            if (!asked) return false;
            // The only one that keeps the promise: it is broken with this.
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

    // Whoever waits is sent away, and so is everybody who comes later.
    void close() {
        asked_.with([](std::optional<Asked>& asked) { return std::exchange(asked, std::nullopt); });
    }

private:
    using Asked = std::vector<std::function<void()>>;

    const std::function<void()> wake_;
    Guarded<std::optional<Asked>> asked_{Asked{}};
};

}  // namespace mortise::detail
