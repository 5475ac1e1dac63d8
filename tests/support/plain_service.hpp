// A service for clients without observers and sessions, for tests of other things.
#pragma once

#include <functional>
#include <memory>

#include "transport/clients/client_service.hpp"

namespace mortise::transport::test {

struct PlainService : ClientService {
    struct NoNews : ClientObserver {
        void next(core::Nanoseconds /*patience*/,
                  std::function<void(ObserveAnswer)> answer) override {
            answer(ObserveReply{});
        }
    };

    std::unique_ptr<ClientObserver> observe(core::ObservedNames /*names*/,
                                            core::Position /*from*/) override {
        return std::make_unique<NoNews>();
    }
    void sessions(SessionsRequest /*request*/,
                  std::function<void(SessionsAnswer)> answer) override {
        answer(SessionsReply{});
    }
};

}  // namespace mortise::transport::test
