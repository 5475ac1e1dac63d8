#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "transport/wire/checked_reading.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/convert_membership.hpp"
#include "transport/wire/convert_raft.hpp"

namespace mortise::transport {

namespace {

void put(const core::Forward& m, wire::Forward::Builder to) {
    if (!m.batch.empty()) to.setBatch(data_of(m.batch.view()));
    if (!m.renewal) return;
    auto renewal = to.initRenewal();
    renewal.setSession(m.renewal->session.raw());
    renewal.setNumber(m.renewal->number);
}

core::Forward get(CheckedReading& reading, wire::Forward::Reader from) {
    core::Forward m;
    m.batch = reading.bytes(from.getBatch(), core::batch_bytes_max, "Forward.batch");
    const auto renewal = from.getRenewal();
    if (renewal.getSession() != 0) {
        m.renewal = core::Renewal{core::SessionId{renewal.getSession()}, renewal.getNumber()};
    }
    return m;
}

void put(const core::StreamGap& m, wire::StreamGap::Builder to) {
    to.setSession(m.session.raw());
    to.setNext(m.next.raw());
}

core::StreamGap get(wire::StreamGap::Reader from) {
    return {core::SessionId{from.getSession()}, core::Seq{from.getNext()}};
}

void put(const core::Superseded& m, wire::Superseded::Builder to) {
    to.setIncarnation(m.generation.incarnation.raw());
    to.setBootEpoch(m.generation.boot_epoch.raw());
    to.setLife(m.generation.life);
}

core::Superseded get(wire::Superseded::Reader from) {
    return {{core::Incarnation{from.getIncarnation()}, core::BootEpoch{from.getBootEpoch()},
             from.getLife()}};
}

void put(const core::FormationQuestion& m, wire::FormationQuestion::Builder to) {
    to.setRound(m.round);
    to.setLife(m.life);
}

core::FormationQuestion get(wire::FormationQuestion::Reader from) {
    return {from.getRound(), from.getLife()};
}

core::PeerMessage get(CheckedReading& reading, wire::PeerMessage::Reader from) {
    if (auto raft = get_raft(reading, from)) return *std::move(raft);
    using Which = wire::PeerMessage::Which;
    switch (from.which()) {
        case Which::FORMATION_OFFER:
            return core::FormationOffer{get_entry(reading, from.getFormationOffer())};
        case Which::FORWARD: return get(reading, from.getForward());
        case Which::MEMBERSHIP_REQUEST: return get_membership(reading, from.getMembershipRequest());
        case Which::MEMBERSHIP_REPLY: return get_membership(reading, from.getMembershipReply());
        case Which::STREAM_GAP: return get(from.getStreamGap());
        case Which::SUPERSEDED: return get(from.getSuperseded());
        case Which::FORMATION_QUESTION: return get(from.getFormationQuestion());
        case Which::FORMATION_ANSWER:
            return core::FormationAnswer{from.getFormationAnswer().getRound()};
        default: break;
    }
    reading.fail(Malformed::unknown_kind, "PeerMessage");
    return {};
}

}  // namespace

void write(const core::PeerMessage& message, wire::PeerMessage::Builder to) {
    std::visit(
        core::Overloaded{
            [&](const core::RaftMessage& m) { put_raft(m, to); },
            [&](const core::FormationOffer& m) { put_entry(m.founding, to.initFormationOffer()); },
            [&](const core::Forward& m) { put(m, to.initForward()); },
            [&](const core::MembershipRequest& m) {
                put_membership(m, to.initMembershipRequest());
            },
            [&](const core::MembershipReply& m) { put_membership(m, to.initMembershipReply()); },
            [&](const core::StreamGap& m) { put(m, to.initStreamGap()); },
            [&](const core::Superseded& m) { put(m, to.initSuperseded()); },
            [&](const core::FormationQuestion& m) { put(m, to.initFormationQuestion()); },
            [&](const core::FormationAnswer& m) { to.initFormationAnswer().setRound(m.round); },
        },
        message);
}

core::Result<core::PeerMessage> read(wire::PeerMessage::Reader from) {
    CheckedReading reading;
    auto message = get(reading, from);
    return reading.finish(std::move(message));
}

void write(const std::vector<core::PeerMessage>& batch,
           capnp::List<wire::PeerMessage>::Builder to) {
    MORTISE_CHECK(batch.size() == to.size());
    for (unsigned i = 0; i < to.size(); ++i)
        write(batch[i], to[i]);
}

core::Result<std::vector<core::PeerMessage>> read(capnp::List<wire::PeerMessage>::Reader from) {
    CheckedReading reading;
    std::vector<core::PeerMessage> batch;
    reading.list(from, batch_messages_max, "messages",
                 [&](auto each) { batch.push_back(get(reading, each)); });
    return reading.finish(std::move(batch));
}

}  // namespace mortise::transport
