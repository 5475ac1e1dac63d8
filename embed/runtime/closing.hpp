// Closes a node once, on whichever thread and however often that is asked for.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/instant.hpp"

namespace mortise::detail {

// Thread-safe. A thread cannot wait for itself. And no caller waits for an unresponsive disk, which
// may take for ever: a thread that owns the rest of the node waits for it.
class Closing {
public:
    // `end` ends the node on the calling thread, however long its disk takes. It calls quiet() as
    // soon as no code of the program runs any more.
    explicit Closing(std::function<void()> end) : end_{std::move(end)} {}

    enum class Outcome {
        done,
        begun,        // another thread closes the node, and nobody waits for it
        kept,         // no thread can close it, so it stays alive without an owner
        unresponsive  // another thread closes the node, and its disk has not answered in time
    };

    [[nodiscard]] bool is_done() const { return done_; }
    // Closes the node on this thread; if another thread does, waits for that.
    void here();
    // `node` owns this object. On one of the node's own threads the close only begins; the last
    // owner may be about to release the node. On another thread this waits until the node is quiet,
    // and then for `patience`.
    [[nodiscard]] Outcome close(std::shared_ptr<void> node, bool is_own_thread,
                                core::Nanoseconds patience);
    // For a destructor on another thread: waits for `patience` only.
    void close_in_time(std::shared_ptr<void> node, core::Nanoseconds patience) noexcept;
    void quiet() { quiet_.set_value(); }

private:
    // Empty if no thread can be started. The new thread is the last owner of the node.
    [[nodiscard]] std::optional<std::future<void>> elsewhere(std::shared_ptr<void> node) noexcept;

    // what ends the node: set by the constructor
    const std::function<void()> end_;
    // held by the thread that closes
    std::mutex closing_;
    // the node is closed: set by here()
    std::atomic<bool> done_ = false;
    // no code of the program runs any more: set by quiet()
    std::promise<void> quiet_;
    const std::shared_future<void> is_quiet_ = quiet_.get_future().share();
    // the node itself, if no thread could be started: set by close(), for ever
    std::shared_ptr<void> kept_;
};

}  // namespace mortise::detail
