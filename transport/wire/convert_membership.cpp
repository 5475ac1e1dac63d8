#include "transport/wire/convert_membership.hpp"

#include <utility>

#include "core/base/overloaded.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/convert_operation.hpp"

namespace mortise::transport {

namespace {

// The enumerators have the same numbers on both sides.
using Kind = core::MembershipGoal::Kind;
using State = core::MembershipReply::State;
using core::MembershipRefusal;
static_assert(static_cast<int>(Kind::address) ==
              static_cast<int>(wire::MembershipGoal::Kind::ADDRESS));
static_assert(static_cast<int>(State::done) ==
              static_cast<int>(wire::MembershipReply::State::DONE));
constexpr auto last_refusal = MembershipRefusal::not_a_voters_certificate;
static_assert(static_cast<int>(last_refusal) ==
              static_cast<int>(wire::MembershipRefusal::NOT_A_VOTERS_CERTIFICATE));

core::MembershipGoal get(CheckedReading& reading, wire::MembershipGoal::Reader from) {
    return {reading.known(from.getKind(), Kind::address, "MembershipGoal.kind"),
            reading.set<core::NodeId>(from.getMember(), "MembershipGoal.member"),
            reading.text(from.getAddress(), address_bytes_max, "MembershipGoal.address")};
}

MembershipRefusal get(CheckedReading& reading, wire::MembershipRefusal from, const char* what) {
    return reading.known(from, last_refusal, what);
}

ChangeAnswer get(CheckedReading& reading, wire::ChangeAnswer::Reader from) {
    switch (from.which()) {
        case wire::ChangeAnswer::CHANGED: return core::Changed{};
        case wire::ChangeAnswer::REFUSED:
            return get(reading, from.getRefused(), "ChangeAnswer.refused");
        case wire::ChangeAnswer::DENIED: return get_denied(reading, from.getDeniedWhy());
        case wire::ChangeAnswer::FAILED: break;
    }
    return get_failure(reading, from.getFailed());
}

}  // namespace

void put_membership(const core::MembershipRequest& m, wire::MembershipRequest::Builder to) {
    to.setId(m.id.raw());
    write(m.goal, to.initGoal());
    to.setConfiguration(m.configuration.raw());
    to.setTerm(m.term.raw());
    to.setBegun(m.begun);
}

core::MembershipRequest get_membership(CheckedReading& reading,
                                       wire::MembershipRequest::Reader from) {
    core::MembershipRequest m;
    m.id = core::ChangeId{from.getId()};
    m.goal = get(reading, from.getGoal());
    m.configuration = reading.index(from.getConfiguration(), "MembershipRequest.configuration");
    m.term = reading.term(from.getTerm(), "MembershipRequest.term");
    m.begun = from.getBegun();
    return m;
}

void put_membership(const core::MembershipReply& m, wire::MembershipReply::Builder to) {
    to.setId(m.id.raw());
    to.setState(static_cast<wire::MembershipReply::State>(m.state));
    to.setWhy(static_cast<wire::MembershipRefusal>(m.why));
    to.setConfiguration(m.configuration.raw());
    to.setTerm(m.term.raw());
}

core::MembershipReply get_membership(CheckedReading& reading, wire::MembershipReply::Reader from) {
    core::MembershipReply m;
    m.id = core::ChangeId{from.getId()};
    m.state = reading.known(from.getState(), State::done, "MembershipReply.state");
    m.why = get(reading, from.getWhy(), "MembershipReply.why");
    m.configuration = reading.index(from.getConfiguration(), "MembershipReply.configuration");
    m.term = reading.term(from.getTerm(), "MembershipReply.term");
    return m;
}

void write(const core::MembershipGoal& goal, wire::MembershipGoal::Builder to) {
    to.setKind(static_cast<wire::MembershipGoal::Kind>(goal.kind));
    to.setMember(goal.member.raw());
    if (!goal.address.empty()) to.setAddress(data_of(goal.address));
}

core::Result<core::MembershipGoal> read(wire::MembershipGoal::Reader from) {
    CheckedReading reading;
    auto goal = get(reading, from);
    return reading.finish(std::move(goal));
}

void write(const ChangeAnswer& answer, wire::ChangeAnswer::Builder to) {
    std::visit(core::Overloaded{
                   [&](const core::Changed&) { to.setChanged(); },
                   [&](const MembershipRefusal& why) {
                       to.setRefused(static_cast<wire::MembershipRefusal>(why));
                   },
                   [&](const core::CallError& error) { to.setFailed(failure_of(error)); },
                   [&](const core::Denied& denied) {
                       to.setDenied();
                       to.setDeniedWhy(data_of(text_of_denial(denied)));
                   },
               },
               answer);
}

core::Result<ChangeAnswer> read(wire::ChangeAnswer::Reader from) {
    CheckedReading reading;
    const auto answer = get(reading, from);
    return reading.finish(answer);
}

}  // namespace mortise::transport
