#include "transport/outcome_stream.hpp"

#include <utility>
#include <variant>

#include "transport/convert.hpp"

namespace mortise::transport {

OutcomeStream::OutcomeStream(KjLoop& loop, ClientService& service, wire::OutcomeSink::Client sink)
    : loop_{loop},
      service_{service},
      sink_{kj::mv(sink)},
      turn_end_{std::make_shared<std::function<void()>>([this] { send(); })},
      tasks_{*this} {}

OutcomeStream::~OutcomeStream() noexcept {
    unsubscribe();
}

SubscribeAnswer OutcomeStream::open(const OutcomesRequest& request) {
    auto answer = service_.subscribe(request, *this);
    if (const auto* subscribed = std::get_if<Subscribed>(&answer)) {
        subscription_ = subscribed->id;
        queue_.emplace(subscribed->applied);
    }
    return answer;
}

void OutcomeStream::unsubscribe() {
    if (const auto id = std::exchange(subscription_, std::nullopt)) service_.unsubscribe(*id);
}

void OutcomeStream::applied(core::LogIndex applied, std::vector<OutcomeBatch> batches) {
    if (end_ || !queue_) return;
    if (!queue_->push(applied, std::move(batches))) {
        end_ = StreamEnd::too_slow;
        queue_.reset();
        unsubscribe();
    }
    loop_.at_turn_end(turn_end_);
}

void OutcomeStream::ended(StreamEnd reason) {
    subscription_.reset();
    if (!end_) end_ = reason;
    loop_.at_turn_end(turn_end_);
}

// One call at a time: what happens meanwhile goes into the next one.
void OutcomeStream::send() {
    if (in_flight_ || ended_) return;
    if (const auto call = queue_ ? queue_->take() : std::nullopt) {
        send(*call);
    } else if (end_) {
        send_end();
    }
}

void OutcomeStream::send(const OutcomeQueue::Call& call) {
    auto request = sink_.outcomesRequest();
    write(call.batches, request.initBatches(static_cast<kj::uint>(call.batches.size())));
    request.setApplied(call.applied.raw());
    in_flight_ = true;
    tasks_.add(request.send().then([this](capnp::Response<wire::OutcomeSink::OutcomesResults>&&) {
        in_flight_ = false;
        send();
    }));
}

void OutcomeStream::send_end() {
    ended_ = true;
    auto request = sink_.endedRequest();
    request.setReason(to_wire(*end_));
    tasks_.add(request.send().ignoreResult());
}

// The client does not want it, or is gone.
void OutcomeStream::taskFailed(kj::Exception&& /*exception*/) {
    ended_ = true;
    queue_.reset();
    unsubscribe();
}

}  // namespace mortise::transport
