#include "core/codec/command_codec.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// Numbers of the log's format: never changed, never used again.
enum class Kind : std::uint8_t {
    open_session = 1,
    renew = 2,
    close_session = 3,
    expire = 4,
    sweep = 5,
    acknowledge = 6,
    acquire = 7,
    release = 8,
    cancel = 9,
};

// Who asked, for access rules to come: written empty, carried along unread.
constexpr std::size_t identity_bytes_max = 64;

constexpr std::uint8_t acquire_waits = 1;
constexpr std::uint8_t acquire_names_policy = 2;

void head(ByteWriter& out, Kind kind) {
    out.u8(static_cast<std::uint8_t>(kind));
    out.text({});
}

void put(ByteWriter& out, const OpenSession& c) {
    head(out, Kind::open_session);
    out.u64(c.nonce);
    out.u64(c.node.raw());
    out.u64(c.incarnation.raw());
    out.varint(c.boot_epoch.raw());
    out.u32(c.ttl_ms);
    out.u32(c.rho_ppm);
    out.u8(c.former_life_ended ? 1 : 0);
}

void put(ByteWriter& out, const Renew& c) {
    head(out, Kind::renew);
    out.varint(c.renewals.size());
    for (const auto& renewal : c.renewals) {
        out.varint(renewal.session.raw());
        out.varint(renewal.number);
    }
}

void put(ByteWriter& out, const CloseSession& c) {
    head(out, Kind::close_session);
    out.varint(c.session.raw());
}

void put(ByteWriter& out, const Expire& c) {
    head(out, Kind::expire);
    out.varint(c.session.raw());
    out.varint(c.renewed_at.raw());
}

void put(ByteWriter& out, const Sweep& /*c*/) {
    head(out, Kind::sweep);
}

void put(ByteWriter& out, const Acknowledge& c) {
    head(out, Kind::acknowledge);
    out.varint(c.session.raw());
    out.varint(c.received.raw());
}

void put(ByteWriter& out, const Acquire& c) {
    std::uint8_t flags = 0;
    if (c.wait) flags |= acquire_waits;
    if (c.policy_given) flags |= acquire_names_policy;
    out.text(c.name);
    out.u8(static_cast<std::uint8_t>(c.mode));
    out.u8(flags);
    out.u8(static_cast<std::uint8_t>(c.policy));
    out.text(c.label);
}

void put(ByteWriter& out, const Release& c) {
    out.varint(c.operation.raw());
}
void put(ByteWriter& out, const Cancel& c) {
    out.varint(c.operation.raw());
}

Kind kind_of(const RequestBody& body) {
    return std::visit(Overloaded{[](const Acquire&) { return Kind::acquire; },
                                 [](const Release&) { return Kind::release; },
                                 [](const Cancel&) { return Kind::cancel; }},
                      body);
}

void put(ByteWriter& out, const Request& c) {
    head(out, kind_of(c.body));
    out.varint(c.session.raw());
    out.varint(c.seq.raw());
    out.varint(c.after.raw());
    std::visit([&](const auto& body) { put(out, body); }, c.body);
}

bool get_flag(ByteReader& in) {
    const auto flag = in.u8();
    if (flag > 1) in.fail();
    return flag == 1;
}

template <class AnyId>
AnyId get_id(ByteReader& in) {
    const AnyId id{in.varint()};
    if (!id.is_set()) in.fail();
    return id;
}

OpenSession get_open_session(ByteReader& in) {
    OpenSession c;
    c.nonce = in.u64();
    c.node = NodeId{in.u64()};
    c.incarnation = Incarnation{in.u64()};
    c.boot_epoch = BootEpoch{in.varint()};
    c.ttl_ms = in.u32();
    c.rho_ppm = in.u32();
    c.former_life_ended = get_flag(in);
    const bool is_somebody =
        c.nonce != 0 && c.node.is_set() && c.incarnation.is_set() && c.boot_epoch.is_set();
    if (!is_somebody || c.ttl_ms == 0 || c.rho_ppm >= 500'000) in.fail();
    return c;
}

Renew get_renew(ByteReader& in) {
    Renew c;
    c.renewals.resize(in.count(2));
    for (auto& renewal : c.renewals) {
        renewal.session = get_id<SessionId>(in);
        renewal.number = in.varint();
    }
    return c;
}

Acquire get_acquire(ByteReader& in) {
    Acquire c;
    c.name = in.text(name_bytes_max);
    const auto mode = in.u8();
    const auto flags = in.u8();
    const auto policy = in.u8();
    c.label = in.text(label_bytes_max);
    const bool known = mode < lock_modes && flags <= (acquire_waits | acquire_names_policy) &&
                       policy <= static_cast<std::uint8_t>(QueuePolicy::fifo);
    if (!known || c.name.empty()) {
        in.fail();
        return c;
    }
    c.mode = static_cast<LockMode>(mode);
    c.wait = (flags & acquire_waits) != 0;
    c.policy_given = (flags & acquire_names_policy) != 0;
    c.policy = static_cast<QueuePolicy>(policy);
    return c;
}

Request get_request(ByteReader& in, Kind kind) {
    Request c;
    c.session = get_id<SessionId>(in);
    c.seq = get_id<Seq>(in);
    c.after = Seq{in.varint()};
    switch (kind) {
        case Kind::acquire: c.body = get_acquire(in); break;
        case Kind::release: c.body = Release{get_id<Seq>(in)}; break;
        default: c.body = Cancel{get_id<Seq>(in)}; break;
    }
    return c;
}

Command get_command(ByteReader& in) {
    const auto kind = static_cast<Kind>(in.u8());
    (void)in.text(identity_bytes_max);
    switch (kind) {
        case Kind::open_session: return get_open_session(in);
        case Kind::renew: return get_renew(in);
        case Kind::close_session: return CloseSession{get_id<SessionId>(in)};
        case Kind::expire: {
            const auto session = get_id<SessionId>(in);
            return Expire{session, get_id<LogIndex>(in)};
        }
        case Kind::sweep: return Sweep{};
        case Kind::acknowledge: {
            const auto session = get_id<SessionId>(in);
            return Acknowledge{session, get_id<LogIndex>(in)};
        }
        case Kind::acquire:
        case Kind::release:
        case Kind::cancel: return get_request(in, kind);
    }
    in.fail();
    return Sweep{};
}

}  // namespace

void BatchBuilder::add(const Command& command) {
    ByteWriter out;
    std::visit([&](const auto& c) { put(out, c); }, command);
    commands_ += out.take();
    ++count_;
}

void BatchBuilder::add_encoded(std::string_view commands, std::size_t count) {
    commands_.append(commands);
    count_ += count;
}

Bytes BatchBuilder::take() {
    std::string batch;
    batch.reserve(commands_.size() + 1);
    batch.push_back(static_cast<char>(command_format));
    batch += std::exchange(commands_, {});
    count_ = 0;
    return Bytes{std::move(batch)};
}

std::optional<std::vector<Command>> decode_batch(const Bytes& batch) {
    if (batch.size() > batch_bytes_max) return std::nullopt;
    ByteReader in{batch.view()};
    if (in.u8() != command_format) return std::nullopt;
    std::vector<Command> commands;
    while (in.ok() && !in.done()) {
        if (commands.size() == batch_commands_max) return std::nullopt;
        commands.push_back(get_command(in));
    }
    if (!in.done()) return std::nullopt;
    return commands;
}

std::string_view commands_of(const Bytes& batch) {
    MORTISE_CHECK(!batch.empty());
    return batch.view().substr(1);
}

}  // namespace mortise::core
