// Runs KJ's event loop on an Asio loop: it has no thread, poll or signal of its own.
//
// KJ is active on the thread only while run() is on the stack. So several such loops may run on one
// thread, one after the other, and the host may have a KJ loop of its own elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>
#include <kj/async.h>
#include <kj/function.h>

#include "transport/sockets/log.hpp"

namespace mortise::transport {

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class KjLoop final : private kj::EventPort {
public:
    // `settle` is called after every outermost run(), when KJ is not on the stack. It does what a
    // KJ callback must not do, such as to destroy the connection that called it, or to call other
    // code.
    KjLoop(asio::io_context& io, Log log, std::function<void()> settle);
    ~KjLoop();
    KjLoop(const KjLoop&) = delete;
    KjLoop& operator=(const KjLoop&) = delete;

    // Runs the work, and then a limited number of the events that are ready. It may be nested.
    // Nothing is thrown: an exception of the work is logged.
    void run(kj::FunctionParam<void()> work);
    // A run() is on the stack.
    [[nodiscard]] bool is_running() const { return running_; }
    // Makes run() happen soon.
    void wake();
    // Calls `work` once at the end of this turn, within KJ, for work that should be done once per
    // turn.
    void at_turn_end(std::weak_ptr<std::function<void()>> work);

    [[nodiscard]] asio::io_context& io() { return io_; }
    // For callbacks that may outlive the loop.
    using Handle = std::weak_ptr<KjLoop*>;
    [[nodiscard]] Handle handle() const { return self_; }

private:
    class LogForwarder;

    void setRunnable(bool runnable) override;
    // No code waits for a promise here.
    bool wait() override { return false; }
    bool poll() override { return false; }
    template <class Work>
    void guarded(Work& work);
    void end_turn();

    asio::io_context& io_;
    Log log_;
    std::function<void()> settle_;
    kj::EventLoop loop_;
    std::vector<std::weak_ptr<std::function<void()>>> turn_end_;
    bool running_ = false;
    bool wake_posted_ = false;
    std::shared_ptr<KjLoop*> self_;  // for posted handlers, which may outlive this
};

}  // namespace mortise::transport
