#include "transport/outcome_receiver.hpp"

#include <utility>
#include <vector>

#include "transport/convert.hpp"

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace mortise::transport {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class OutcomeReceiver final : public wire::OutcomeSink::Server {
public:
    OutcomeReceiver(std::weak_ptr<ReceiverOwner> owner, OutcomeSink& sink)
        : owner_{std::move(owner)}, sink_{sink} {}

    kj::Promise<void> outcomes(OutcomesContext context) override;
    kj::Promise<void> ended(EndedContext context) override;

private:
    std::weak_ptr<ReceiverOwner> owner_;
    OutcomeSink& sink_;
};

kj::Promise<void> OutcomeReceiver::outcomes(OutcomesContext context) {
    const auto owner = owner_.lock();
    if (!owner) return kj::READY_NOW;
    auto batches = read_guarded([&] { return context.getParams().getBatches(); });
    if (!batches) {
        owner->nonsense_received();
        return kj::READY_NOW;
    }
    const core::LogIndex applied{context.getParams().getApplied()};
    owner->tell(sink_, [applied, batches = std::move(*batches)](OutcomeSink& sink) mutable {
        sink.applied(applied, std::move(batches));
    });
    return kj::READY_NOW;
}

kj::Promise<void> OutcomeReceiver::ended(EndedContext context) {
    const auto reason = from_wire(context.getParams().getReason());
    if (const auto owner = owner_.lock())
        owner->tell(sink_, [reason](OutcomeSink& sink) { sink.ended(reason); });
    return kj::READY_NOW;
}

}  // namespace

wire::OutcomeSink::Client make_outcome_receiver(std::weak_ptr<ReceiverOwner> owner,
                                                OutcomeSink& sink) {
    return kj::heap<OutcomeReceiver>(std::move(owner), sink);
}

}  // namespace mortise::transport
