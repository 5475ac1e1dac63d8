// Outcomes on their way to one client: as fast as it takes them, bounded in what waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <kj/async.h>

#include "transport/client_service.hpp"
#include "transport/kj_on_asio.hpp"
#include "transport/outcome_queue.hpp"
#include "transport/peer.capnp.h"

namespace mortise::transport {

class OutcomeStream final : public OutcomeSink, private kj::TaskSet::ErrorHandler {
public:
    OutcomeStream(KjLoop& loop, ClientService& service, wire::OutcomeSink::Client sink);
    ~OutcomeStream() noexcept override;
    OutcomeStream(const OutcomeStream&) = delete;
    OutcomeStream& operator=(const OutcomeStream&) = delete;

    [[nodiscard]] SubscribeAnswer open(const OutcomesRequest& request);

    void applied(core::LogIndex applied, std::vector<OutcomeBatch> batches) override;
    void ended(StreamEnd reason) override;

private:
    void taskFailed(kj::Exception&& exception) override;
    void unsubscribe();
    void send();
    void send(const OutcomeQueue::Call& call);
    void send_end();

    KjLoop& loop_;
    ClientService& service_;
    wire::OutcomeSink::Client sink_;
    std::optional<SubscriptionId> subscription_;
    std::optional<OutcomeQueue> queue_;
    std::optional<StreamEnd> end_;
    bool in_flight_ = false;
    bool ended_ = false;  // nothing more is sent
    std::shared_ptr<std::function<void()>> turn_end_;
    kj::TaskSet tasks_;
};

}  // namespace mortise::transport
