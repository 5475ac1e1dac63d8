// The end of a stream of outcomes that the member calls: hands them on to the client's sink.
#pragma once

#include <functional>
#include <memory>

#include "transport/client_service.hpp"
#include "transport/peer.capnp.h"

namespace mortise::transport {

// Whoever has the connection. Called within KJ.
class ReceiverOwner {
public:
    virtual ~ReceiverOwner() = default;
    // Later, once KJ is off the stack, and only if the sink is still the current one.
    virtual void tell(OutcomeSink& sink, std::function<void(OutcomeSink&)> what) = 0;
    // The connection is of no more use.
    virtual void nonsense_received() = 0;
};

// Calls may still be on their way when the owner is gone. The sink is not touched but through the
// owner.
wire::OutcomeSink::Client make_outcome_receiver(std::weak_ptr<ReceiverOwner> owner,
                                                OutcomeSink& sink);

}  // namespace mortise::transport
