#include <algorithm>
#include <limits>
#include <utility>

#include "transport/wire/checked_reading.hpp"
#include "transport/wire/convert.hpp"

namespace mortise::transport {

namespace {

// The enumerators have the same numbers on both sides.
static_assert(static_cast<int>(core::Role::leader) == static_cast<int>(wire::Role::LEADER));

void put(const MemberInfo& info, wire::MemberInfo::Builder to) {
    to.setNode(info.member.id.raw());
    to.setIncarnation(info.member.incarnation.raw());
    to.setAddress(data_of(info.member.address));
    to.setIsVoter(info.is_voter);
    to.setIsConnected(info.is_connected);
    to.setMatch(info.match.raw());
    to.setIsLeaving(info.is_leaving);
}

MemberInfo get(CheckedReading& reading, wire::MemberInfo::Reader from) {
    MemberInfo info;
    info.member = {reading.set<core::NodeId>(from.getNode(), "MemberInfo.node"),
                   core::Incarnation{from.getIncarnation()},
                   reading.text(from.getAddress(), address_bytes_max, "MemberInfo.address")};
    info.is_voter = from.getIsVoter();
    info.is_connected = from.getIsConnected();
    info.match = reading.index(from.getMatch(), "MemberInfo.match");
    info.is_leaving = from.getIsLeaving();
    return info;
}

}  // namespace

void write(const MemberStatus& status, wire::Status::Builder to) {
    to.setNode(status.self.raw());
    auto cluster = to.initCluster();
    cluster.setHigh(status.cluster.high);
    cluster.setLow(status.cluster.low);
    to.setRole(static_cast<wire::Role>(status.role));
    to.setReady(status.ready);
    to.setTerm(status.term.raw());
    to.setLeader(status.leader.value_or(core::NodeId{}).raw());
    to.setCommit(status.commit.raw());
    to.setApplied(status.applied.raw());
    to.setLogFirst(status.log_first.raw());
    to.setLogLast(status.log_last.raw());
    auto members =
        to.initMembers(static_cast<unsigned>(std::min(status.members.size(), members_max)));
    for (unsigned i = 0; i < members.size(); ++i)
        put(status.members[i], members[i]);
    to.setSessions(status.sessions);
    to.setNames(status.names);
    to.setUptimeNs(static_cast<std::uint64_t>(std::max<std::int64_t>(status.uptime.count(), 0)));
    to.setVersion(data_of(std::string_view{status.version}.substr(0, text_bytes_max)));
    to.setClusterName(data_of(std::string_view{status.cluster_name}.substr(0, text_bytes_max)));
    to.setInsecure(status.insecure);
    to.setWhyNotReady(data_of(std::string_view{status.why_not_ready}.substr(0, why_bytes_max)));
    to.setRemoved(status.removed);
    to.setSession(status.session.value_or(core::SessionId{}).raw());
    to.setClientNodes(status.load.clients);
    to.setClientPlaces(status.load.places);
    to.setDurability(static_cast<std::uint8_t>(status.durability));
    to.setForgetful(status.is_forgetful);
}

core::Result<MemberStatus> read(wire::Status::Reader from) {
    CheckedReading reading;
    MemberStatus status;
    status.self = reading.set<core::NodeId>(from.getNode(), "Status.node");
    status.cluster = {from.getCluster().getHigh(), from.getCluster().getLow()};
    status.role = reading.known(from.getRole(), core::Role::leader, "Status.role");
    status.ready = from.getReady();
    status.term = reading.term(from.getTerm(), "Status.term");
    if (from.getLeader() != 0) status.leader = core::NodeId{from.getLeader()};
    status.commit = reading.index(from.getCommit(), "Status.commit");
    status.applied = reading.index(from.getApplied(), "Status.applied");
    status.log_first = reading.index(from.getLogFirst(), "Status.logFirst");
    status.log_last = reading.index(from.getLogLast(), "Status.logLast");
    reading.list(from.getMembers(), members_max, "Status.members",
                 [&](auto each) { status.members.push_back(get(reading, each)); });
    status.sessions = from.getSessions();
    status.names = from.getNames();
    constexpr auto uptime_max = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    status.uptime = core::Nanoseconds{std::min(from.getUptimeNs(), uptime_max)};
    status.version = reading.text(from.getVersion(), text_bytes_max, "Status.version");
    status.cluster_name = reading.text(from.getClusterName(), text_bytes_max, "Status.clusterName");
    status.insecure = from.getInsecure();
    status.why_not_ready = reading.text(from.getWhyNotReady(), why_bytes_max, "Status.whyNotReady");
    status.removed = from.getRemoved();
    if (from.getSession() != 0) status.session = core::SessionId{from.getSession()};
    status.load = {from.getClientNodes(), from.getClientPlaces()};
    status.durability =
        reading.known(from.getDurability(), core::Durability::replicated, "Status.durability");
    status.is_forgetful = from.getForgetful();
    return reading.finish(std::move(status));
}

}  // namespace mortise::transport
