#include "embed/runtime/client_observers.hpp"

#include <new>
#include <utility>

#include <asio/steady_timer.hpp>

#include "core/node/node_core.hpp"
#include "core/observe/observer.hpp"
#include "embed/values/clocks.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t looks_per_turn_max = 2'048;  // less than a millisecond

}  // namespace

class ClientObservers::One : public std::enable_shared_from_this<One> {
public:
    One(std::shared_ptr<const Source> source, core::ObservedNames names, core::Position from)
        : source_{std::move(source)}, timer_{source_->io}, observer_{std::move(names), from} {}

    void next(core::Nanoseconds patience, std::function<void(transport::ObserveAnswer)> answer) {
        answer_ = std::move(answer);
        auto looks = looks_per_turn_max;
        take(looks);
        if (!answer_) return;
        timer_.expires_after(patience);
        timer_.async_wait([weak = weak_from_this()](const asio::error_code& cancelled) {
            const auto one = weak.lock();
            if (!cancelled && one) one->reply({});
        });
    }
    // Answers if there is something new.
    void take(std::size_t& looks) {
        const auto& core = source_->core();
        const bool is_new = seen_ != core.applied_index() || observer_.has_more() ||
                            ahead_since_ != core::Instant::never();
        if (!answer_ || !is_new) return;
        seen_ = core.applied_index();
        try {
            auto events = take_events(core, looks);
            source_->ahead.judge(observer_, ahead_since_, core.changes(), steady_now());
            if (!events.empty() || observer_.has_more()) reply(std::move(events));
        } catch (const std::bad_alloc&) {  // a gap is better than a missing change
            observer_.begin_anew();
            end_with(core::CallError::resource_exhausted);
        }
    }

private:
    // One at a time, so that an answer is not much longer than its limit.
    std::vector<core::Observed> take_events(const core::NodeCore& core, std::size_t& looks) {
        std::vector<core::Observed> events;
        std::size_t bytes = 0;
        while (bytes < transport::observed_bytes_max && looks > 0 &&
               events.size() < transport::observed_max) {
            const auto before = events.size();
            core::ObserverBudget budget{1, looks};
            observer_.take(core.changes(), core.machine(), budget, events);
            looks = budget.looks;
            if (events.size() == before) break;
            bytes += transport::wire_bytes(events.back());
        }
        return events;
    }
    void reply(std::vector<core::Observed> events) {
        end_with(transport::ObserveReply{std::move(events), observer_.reached(),
                                         observer_.has_more(), source_->is_ready()});
    }
    void end_with(transport::ObserveAnswer answer) {
        timer_.cancel();
        if (const auto answered = std::exchange(answer_, nullptr)) answered(std::move(answer));
    }

    std::shared_ptr<const Source> source_;
    asio::steady_timer timer_;
    core::Observer observer_;
    core::LogIndex seen_;
    core::Instant ahead_since_ = core::Instant::never();
    std::function<void(transport::ObserveAnswer)> answer_;  // empty: the client does not wait
};

ClientObservers::ClientObservers(Source source)
    : source_{std::make_shared<const Source>(std::move(source))} {}

ClientObservers::~ClientObservers() = default;

// The connection of the client owns the observer.
transport::ClientObserver ClientObservers::add(core::ObservedNames names, core::Position from) {
    std::erase_if(all_, [](const auto& one) { return one.expired(); });
    auto one = std::make_shared<One>(source_, std::move(names), from);
    all_.push_back(one);
    return [one](core::Nanoseconds patience, std::function<void(transport::ObserveAnswer)> answer) {
        one->next(patience, std::move(answer));
    };
}

// An answer may remove observers, but adds none: that takes another message of a client.
bool ClientObservers::tell() {
    auto looks = looks_per_turn_max;
    for (auto left = all_.size(); left > 0; --left) {
        if (looks == 0) return true;
        next_ = (next_ + 1) % all_.size();
        if (const auto one = all_[next_].lock()) one->take(looks);
    }
    return false;
}

}  // namespace mortise::detail
