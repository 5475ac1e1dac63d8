// A service for clients without observers and sessions, for tests of other things.
#pragma once

#include <functional>

#include "transport/clients/client_service.hpp"

namespace mortise::transport::test {

struct PlainService : ClientService {
    static void no_news(core::Nanoseconds /*patience*/,
                        const std::function<void(ObserveAnswer)>& answer) {
        answer(ObserveReply{});
    }

    ClientObserver observe(core::ObservedNames /*names*/, core::Position /*from*/) override {
        return no_news;
    }
    void evict(core::EvictSession /*request*/, std::function<void(ChangeAnswer)> answer) override {
        answer(core::Changed{});
    }
    void sessions(SessionsRequest /*request*/,
                  std::function<void(SessionsAnswer)> answer) override {
        answer(SessionsReply{});
    }
};

}  // namespace mortise::transport::test
