#include "transport/wire/checked_reading.hpp"
#include "transport/wire/convert.hpp"

namespace mortise::transport {

// The enumerators have the same numbers on both sides.
static_assert(static_cast<int>(Purpose::client) == static_cast<int>(wire::Purpose::CLIENT));
static_assert(static_cast<int>(Refusal::id_in_use) == static_cast<int>(wire::Refusal::ID_IN_USE));

namespace {

// Twice the largest configurable value.
constexpr core::Nanoseconds timing_max = std::chrono::hours{48};

std::uint64_t number_of(core::Nanoseconds time) {
    return static_cast<std::uint64_t>(time.count());
}

core::Nanoseconds time(CheckedReading& reading, std::uint64_t number, const char* what) {
    if (number <= number_of(timing_max)) return core::Nanoseconds{number};
    reading.fail(Malformed::bad_number, what);
    return {};
}

core::HelloTiming timing(CheckedReading& reading, wire::Hello::Reader from) {
    return {time(reading, from.getElectionTimeout(), "Hello.electionTimeout"),
            time(reading, from.getHeartbeat(), "Hello.heartbeat"),
            time(reading, from.getSessionTtl(), "Hello.sessionTtl")};
}

}  // namespace

void write(const Greeting& greeting, wire::Hello::Builder to) {
    to.setProtocolLowest(greeting.lowest);
    to.setProtocolHighest(greeting.highest);
    to.setFeatures(greeting.features);
    to.setPurpose(static_cast<wire::Purpose>(greeting.purpose));
    auto cluster = to.initCluster();
    cluster.setHigh(greeting.hello.cluster.high);
    cluster.setLow(greeting.hello.cluster.low);
    to.setNode(greeting.hello.node.raw());
    to.setIncarnation(greeting.hello.generation.incarnation.raw());
    to.setBootEpoch(greeting.hello.generation.boot_epoch.raw());
    to.setLife(greeting.hello.generation.life);
    to.setCommandFormat(greeting.hello.command_format);
    if (!greeting.hello.address.empty()) to.setAddress(data_of(greeting.hello.address));
    if (!greeting.hello.cluster_name.empty())
        to.setClusterName(data_of(greeting.hello.cluster_name));
    to.setElectionTimeout(number_of(greeting.hello.timing.election_timeout));
    to.setHeartbeat(number_of(greeting.hello.timing.heartbeat));
    to.setSessionTtl(number_of(greeting.hello.timing.session_ttl));
    to.setDurability(static_cast<std::uint8_t>(greeting.hello.durability));
    to.setForgetful(greeting.hello.is_forgetful);
    auto voters = to.initVoters(static_cast<unsigned>(greeting.hello.voters.size()));
    for (unsigned i = 0; i < voters.size(); ++i)
        voters.set(i, greeting.hello.voters[i].raw());
}

core::Result<Greeting> read(wire::Hello::Reader from) {
    CheckedReading reading;
    Greeting greeting;
    greeting.lowest = from.getProtocolLowest();
    greeting.highest = from.getProtocolHighest();
    if (greeting.lowest > greeting.highest) reading.fail(Malformed::bad_order, "Hello.protocol");
    greeting.features = from.getFeatures();
    greeting.purpose = reading.known(from.getPurpose(), Purpose::client, "Hello.purpose");
    auto& hello = greeting.hello;
    hello.cluster = {from.getCluster().getHigh(), from.getCluster().getLow()};
    hello.node = core::NodeId{from.getNode()};
    hello.generation = {core::Incarnation{from.getIncarnation()},
                        core::BootEpoch{from.getBootEpoch()}, from.getLife()};
    hello.command_format = from.getCommandFormat();
    hello.address = reading.text(from.getAddress(), address_bytes_max, "Hello.address");
    hello.cluster_name =
        reading.text(from.getClusterName(), core::cluster_name_bytes_max, "Hello.clusterName");
    if (!hello.cluster_name.empty() && !core::is_cluster_name(hello.cluster_name))
        reading.fail(Malformed::bad_text, "Hello.clusterName");
    hello.timing = timing(reading, from);
    hello.durability =
        reading.known(from.getDurability(), core::Durability::replicated, "Hello.durability");
    hello.is_forgetful = from.getForgetful();
    if (hello.command_format == 0) reading.fail(Malformed::bad_number, "Hello.commandFormat");
    const bool whole = hello.node.is_set() && hello.generation.is_set();
    if (greeting.purpose != Purpose::client && !whole) {
        reading.fail(Malformed::bad_number, "Hello.node");
    }
    core::NodeId before;
    reading.list(from.getVoters(), voters_max, "Hello.voters", [&](std::uint64_t voter) {
        if (voter <= before.raw()) reading.fail(Malformed::bad_order, "Hello.voters");
        before = core::NodeId{voter};
        hello.voters.push_back(before);
    });
    return reading.finish(std::move(greeting));
}

void write(Refusal refusal, wire::Refused::Builder to) {
    to.setReason(static_cast<wire::Refusal>(refusal));
    to.setText(data_of(to_string(refusal)));
}

Refusal read(wire::Refused::Reader from) {
    CheckedReading reading;
    return reading.known(from.getReason(), Refusal::id_in_use, "Refused.reason");
}

}  // namespace mortise::transport
