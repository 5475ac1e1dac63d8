// KJ's event loop as a guest on an Asio loop: it has no thread, no poll and no signal of its own.
//
// KJ is current on the thread only while run() is on the stack, so several guests may live on one
// thread, one after the other, and the host may have a KJ loop of its own elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>
#include <kj/async.h>
#include <kj/function.h>

#include "transport/log.hpp"

namespace mortise::transport {

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class KjLoop final : private kj::EventPort {
public:
    // `settle` is called after every outermost run(), when KJ is not on the stack: the place to do
    // what a KJ callback must not, such as to destroy the connection it came from, and to call out.
    KjLoop(asio::io_context& io, Log log, std::function<void()> settle);
    ~KjLoop();
    KjLoop(const KjLoop&) = delete;
    KjLoop& operator=(const KjLoop&) = delete;

    // Does the work, then what it made ready, but not for long. May be nested. Nothing is thrown:
    // an exception of the work is logged.
    void run(kj::FunctionParam<void()> work);
    // Makes run() happen soon.
    void wake();
    // Once, at the end of this turn, still within KJ. For what is better done once per turn.
    void at_turn_end(std::weak_ptr<std::function<void()>> work);

    [[nodiscard]] asio::io_context& io() { return io_; }
    // For callbacks that may outlive the loop.
    using Handle = std::weak_ptr<KjLoop*>;
    [[nodiscard]] Handle handle() const { return self_; }

private:
    class LogForwarder;

    void setRunnable(bool runnable) override;
    // Nobody waits on a promise here.
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
    std::shared_ptr<KjLoop*> self_;  // for what is posted: may outlive this
};

}  // namespace mortise::transport
