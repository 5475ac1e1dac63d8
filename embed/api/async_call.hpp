// An asynchronous call on its way: from its start until its handler was called.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "embed/threads/call_gate.hpp"
#include "embed/threads/canceller.hpp"
#include "embed/threads/completion.hpp"
#include "embed/threads/notifier.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {

// The state of an asynchronous call. It lives until the handler was called.
class AsyncCall final : public Completion,
                        public Notifier::Job,
                        public std::enable_shared_from_this<AsyncCall> {
public:
    // Translates what the core answered into what the handler is told.
    using Reading = std::function<void(CallOutcome&)>;

    // `tag` is that of a call that can be cancelled; otherwise not set.
    AsyncCall(std::shared_ptr<CallGate> gate, core::CallTag tag, Reading read,
              std::unique_ptr<Finish> finish)
        : gate_{std::move(gate)}, read_{std::move(read)}, finish_{std::move(finish)} {
        if (tag.is_set()) canceller_.emplace(gate_, tag);
    }

    // Called after the call has begun, since a cancellation before that would have no effect. The
    // call may have ended by then.
    void cancel_with(const std::stop_token& token) noexcept {
        const std::scoped_lock lock{mutex_};
        if (finish_ && token.stop_possible()) stop_.emplace(token, Cancel{*canceller_});
    }
    void cancel() noexcept { canceller_->cancel(); }

    void complete(CallOutcome outcome) noexcept override {
        outcome_.emplace(std::move(outcome));
        const auto self = weak_from_this().lock();  // shared_from_this() is declared to throw
        // A closed node has no threads any more, so a new thread calls the handler. If none can be
        // started, it is called here: that is better than never.
        if (!gate_->notifier().post(self) && !run_elsewhere(self)) run_here(self);
    }

    void run(const std::shared_ptr<Queued>& /*self*/) override {
        auto outcome = *std::move(outcome_);
        std::unique_ptr<Finish> finish;
        {
            const std::scoped_lock lock{mutex_};
            finish = std::move(finish_);
            stop_.reset();
        }
        read_(outcome);
        (*finish)(outcome.error, std::move(outcome.hold));
    }

private:
    struct Cancel {
        Canceller& canceller;
        void operator()() const noexcept { canceller.cancel(); }
    };
    using OnStop = std::stop_callback<Cancel>;

    const std::shared_ptr<CallGate> gate_;
    const Reading read_;
    std::optional<Canceller> canceller_;
    std::optional<CallOutcome> outcome_;
    std::mutex mutex_;
    std::unique_ptr<Finish> finish_;
    std::optional<OnStop> stop_;
};

// Completes a call that has no node.
inline void finish_elsewhere(std::unique_ptr<Finish> finish, Errc error) {
    const auto task = [error, finish = std::shared_ptr<Finish>{std::move(finish)}] {
        (*finish)(error, Hold{});
    };
    if (!run_elsewhere(task)) task();
}

}  // namespace mortise::detail
