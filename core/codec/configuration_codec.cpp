#include "core/codec/configuration_codec.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

constexpr std::uint8_t configuration_version = 1;
// A cluster that does not sync everything: members of earlier versions have to refuse it.
constexpr std::uint8_t version_of_replicated = 2;
constexpr std::size_t member_bytes_min = 8 + 8 + 1;

void put_members(ByteWriter& out, const std::vector<Member>& members) {
    out.varint(members.size());
    for (const auto& member : members) {
        out.u64(member.id.raw());
        out.u64(member.incarnation.raw());
        out.text(member.address);
    }
}

std::vector<Member> get_members(ByteReader& in) {
    std::vector<Member> members(in.count(member_bytes_min));
    for (auto& member : members) {
        member.id = NodeId{in.u64()};
        member.incarnation = Incarnation{in.u64()};
        member.address = in.text(address_bytes_max);
    }
    const bool ascending = std::ranges::is_sorted(members, {}, &Member::id);
    const bool distinct = std::ranges::adjacent_find(members, {}, &Member::id) == members.end();
    if (!ascending || !distinct) in.fail();
    return members;
}

}  // namespace

Bytes encode_configuration(const Configuration& configuration) {
    ByteWriter out;
    const bool is_synced = configuration.durability == Durability::synced;
    out.u8(is_synced ? configuration_version : version_of_replicated);
    out.u64(configuration.cluster.high);
    out.u64(configuration.cluster.low);
    put_members(out, configuration.voters);
    put_members(out, configuration.outgoing);
    put_members(out, configuration.learners);
    put_members(out, configuration.founders);
    return Bytes{out.take()};
}

std::optional<Configuration> decode_configuration(const Bytes& bytes) {
    ByteReader in{bytes.view()};
    const auto version = in.u8();
    const bool is_replicated = version == version_of_replicated;
    if (version != configuration_version && !is_replicated) return std::nullopt;
    Configuration configuration;
    if (is_replicated) configuration.durability = Durability::replicated;
    configuration.cluster = {in.u64(), in.u64()};
    configuration.voters = get_members(in);
    configuration.outgoing = get_members(in);
    configuration.learners = get_members(in);
    configuration.founders = get_members(in);
    if (!in.done() || !configuration.is_formed() || configuration.voters.empty())
        return std::nullopt;
    return configuration;
}

}  // namespace mortise::core
