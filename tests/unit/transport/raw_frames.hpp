// RPC messages as bytes, including messages that no program of ours sends.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <capnp/message.h>
#include <capnp/rpc.capnp.h>
#include <capnp/serialize.h>

#include "transport/wire/convert.hpp"

namespace mortise::transport::test {

namespace rpc = capnp::rpc;

inline std::string bytes_of(capnp::MallocMessageBuilder& message) {
    const auto words = capnp::messageToFlatArray(message);
    const auto bytes = words.asChars();
    return {bytes.begin(), bytes.size()};
}

template <class Fill>
std::string frame(Fill fill) {
    capnp::MallocMessageBuilder message;
    fill(message.initRoot<rpc::Message>());
    return bytes_of(message);
}

inline std::string bootstrap(unsigned question) {
    return frame([&](auto message) { message.initBootstrap().setQuestionId(question); });
}

inline std::string finish(unsigned question) {
    return frame([&](auto message) { message.initFinish().setQuestionId(question); });
}

// `question` is a call of the Gate in the answer to question `of`.
inline std::string hello(Greeting greeting, unsigned question = 1, unsigned of = 0) {
    return frame([&](auto message) {
        auto call = message.initCall();
        call.setQuestionId(question);
        call.initTarget().initPromisedAnswer().setQuestionId(of);
        call.setInterfaceId(capnp::typeId<wire::Gate>());
        call.setMethodId(0);
        call.initSendResultsTo().setCaller();
        auto params = call.initParams().initContent().template initAs<wire::Gate::HelloParams>();
        write(greeting, params.initHello());
    });
}

// Questions 0 and 1.
inline std::string client_hello() {
    Greeting greeting;
    greeting.purpose = Purpose::client;
    return bootstrap(0) + hello(greeting);
}

using Change = std::function<void(rpc::Call::Builder)>;

// A call of the member or the peer in the answer to question 1.
template <class Interface>
std::string call(unsigned question, unsigned method, const Change& fill = {}) {
    return frame([&](auto message) {
        auto call = message.initCall();
        call.setQuestionId(question);
        auto target = call.initTarget().initPromisedAnswer();
        target.setQuestionId(1);
        for (auto step : target.initTransform(2))
            step.setGetPointerField(0);  // HelloResults.answer, HelloAnswer.member
        call.setInterfaceId(capnp::typeId<Interface>());
        call.setMethodId(static_cast<std::uint16_t>(method));
        call.initSendResultsTo().setCaller();
        call.initParams();
        if (fill) fill(call);
    });
}

// A call of the peer that hello has offered. Cap'n Proto has numbered the Gate 0 and this 1.
inline std::string send_call(unsigned question, const std::vector<core::PeerMessage>& batch,
                             const Change& then = {}) {
    return call<wire::Peer>(question, 0, [&](rpc::Call::Builder call) {
        call.initTarget().setImportedCap(1);
        auto params = call.getParams().initContent().initAs<wire::Peer::SendParams>();
        write(batch, params.initMessages(static_cast<unsigned>(batch.size())));
        if (then) then(call);
    });
}

// Questions 0 and 1.
inline std::string peer_hello(core::Hello own, Purpose purpose = Purpose::replication) {
    Greeting greeting;
    greeting.purpose = purpose;
    greeting.hello = std::move(own);
    return bootstrap(0) + hello(greeting);
}

// --- valid calls of every method of Member ------------------------------------------------------

enum Method : unsigned { status, list, inspect, change, break_lock };
constexpr unsigned methods = 5;

inline void fill_params(unsigned method, rpc::Call::Builder call) {
    using Member = wire::Member;
    auto content = call.getParams().initContent();
    switch (method) {
        case list:
            write(ListRequest{"", "", 1'000, true, false},
                  content.initAs<Member::ListParams>().initRequest());
            break;
        case inspect: {
            auto params = content.initAs<Member::InspectParams>();
            params.setName(data_of("name"));
            params.setLocal(true);
            break;
        }
        case change: {
            auto params = content.initAs<Member::ChangeParams>();
            auto goal = params.initGoal();
            goal.setKind(wire::MembershipGoal::Kind::VOTER);
            goal.setMember(9);
            params.setPatienceNs(1'000'000'000);
            break;
        }
        case break_lock: {
            auto params = content.initAs<Member::BreakLockParams>();
            params.setName(data_of("name"));
            params.setToken(1);
            break;
        }
        default: content.initAs<Member::StatusParams>();
    }
}

inline std::string member_call(unsigned question, unsigned method, const Change& then = {}) {
    return call<wire::Member>(question, method, [&](rpc::Call::Builder call) {
        fill_params(method, call);
        if (then) then(call);
    });
}

}  // namespace mortise::transport::test
