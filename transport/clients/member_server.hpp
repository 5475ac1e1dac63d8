// The capability that a node offers to clients.
#pragma once

#include <memory>

#include "transport/clients/client_service.hpp"
#include "transport/clients/count_limit.hpp"
#include "transport/peers/gate.hpp"
#include "transport/rpc/kj_on_asio.hpp"

namespace mortise::transport {

// The capability for one connection. The loop and the service outlive it. `lists` limits the
// listings that all connections may have in progress.
wire::Member::Client make_member(std::weak_ptr<Visit> visit, KjLoop& loop, ClientService& service,
                                 CountLimit lists);

}  // namespace mortise::transport
