#include "transport/rpc/kj_on_asio.hpp"

#include <string>
#include <utility>

#include <asio/post.hpp>
#include <kj/debug.h>
#include <kj/exception.h>

namespace mortise::transport {
namespace {

// The number of KJ's events that run before other handlers of the Asio loop get their turn.
constexpr kj::uint events_per_turn = 2'000;

LogLevel level_of(kj::LogSeverity severity) {
    switch (severity) {
        case kj::LogSeverity::ERROR:
        case kj::LogSeverity::FATAL: return LogLevel::error;
        case kj::LogSeverity::WARNING: return LogLevel::warning;
        default: return LogLevel::debug;
    }
}

}  // namespace

// KJ finds this object by its place on the stack of the thread.
class KjLoop::LogForwarder final : public kj::ExceptionCallback {
public:
    explicit LogForwarder(const Log& log) : log_{log} {}

    void logMessage(kj::LogSeverity severity, const char* /*file*/, int /*line*/,
                    int /*context_depth*/, kj::String&& text) override {
        if (log_) log_(level_of(severity), std::string{text.cStr(), text.size()});
    }
    // The trace is not used, and it is expensive.
    StackTraceMode stackTraceMode() override { return StackTraceMode::NONE; }

private:
    const Log& log_;
};

KjLoop::KjLoop(asio::io_context& io, Log log, std::function<void()> settle)
    : io_{io},
      log_{std::move(log)},
      settle_{std::move(settle)},
      loop_{*this},
      self_{std::make_shared<KjLoop*>(this)} {}

KjLoop::~KjLoop() = default;

template <class Work>
void KjLoop::guarded(Work& work) {
    try {
        work();
    } catch (const kj::Exception& e) {
        if (log_) log_(LogLevel::error, e.getDescription().cStr());
    } catch (const std::exception& e) {
        if (log_) log_(LogLevel::error, e.what());
    }
}

void KjLoop::run(kj::FunctionParam<void()> work) {
    if (running_) {
        guarded(work);
        return;
    }
    auto turn = [&] {
        const LogForwarder forwarder{log_};
        kj::WaitScope scope{loop_};
        // Executed even if logging the error has failed.
        KJ_DEFER(running_ = false);
        running_ = true;
        guarded(work);
        auto events = [&] { loop_.run(events_per_turn); };
        guarded(events);
        end_turn();
    };
    guarded(turn);
    if (loop_.isRunnable()) wake();
    settle_();
}

void KjLoop::end_turn() {
    for (const auto& each : std::exchange(turn_end_, {})) {
        if (const auto work = each.lock()) guarded(*work);
    }
}

void KjLoop::wake() {
    if (std::exchange(wake_posted_, true)) return;
    asio::post(io_, [self = std::weak_ptr{self_}] {
        const auto alive = self.lock();
        if (!alive) return;
        (*alive)->wake_posted_ = false;
        (*alive)->run([] {});
    });
}

void KjLoop::at_turn_end(std::weak_ptr<std::function<void()>> work) {
    turn_end_.push_back(std::move(work));
    if (!running_) wake();
}

void KjLoop::setRunnable(bool runnable) {
    if (runnable && !running_) wake();
}

}  // namespace mortise::transport
