// The threads of a node that run code of the program.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "embed/threads/notifier.hpp"
#include "embed/values/at_most_every.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

// Thread-safe.
class ProgramThreads {
public:
    // A callback took long. Called on its thread, at most once in ten seconds: it may be that of
    // the very reports, and must not keep itself busy. It must not throw.
    using OnSlow = std::function<void(std::chrono::nanoseconds took)>;
    explicit ProgramThreads(OnSlow on_slow) : on_slow_{std::move(on_slow)} {}

    [[nodiscard]] const std::shared_ptr<Notifier>& notifier() const { return notifier_; }
    [[nodiscard]] Notifier& losses() { return losses_; }
    // True on one of these threads.
    [[nodiscard]] bool is_own() const {
        return notifier_->is_own_thread() || losses_.is_own_thread();
    }
    // See Notifier::stop().
    void stop() {
        losses_.stop();
        notifier_->stop();
    }

private:
    void finished(std::chrono::nanoseconds took) {
        if (slow_.passes(steady_now())) on_slow_(took);
    }

    // whom to tell of a slow callback: set by the constructor
    const OnSlow on_slow_;
    // when that was done last
    AtMostEvery slow_{std::chrono::seconds{10}};
    // runs handlers and event sinks; holds and mutexes share it, and it outlives the node
    const std::shared_ptr<Notifier> notifier_ =
        std::make_shared<Notifier>("mortise-notify", [this](auto took) { finished(took); });
    // runs callbacks of Hold::lost(): a separate one, so that nothing delays the notification of a
    // loss
    Notifier losses_{"mortise-lost", [this](auto took) { finished(took); }};
};

}  // namespace mortise::detail
