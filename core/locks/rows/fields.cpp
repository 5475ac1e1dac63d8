#include "core/locks/rows/fields.hpp"

#include <limits>
#include <utility>

#include "core/base/fields.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

constexpr std::uint8_t opening_ends_former_life = 1;
constexpr std::uint8_t opening_is_restricted = 2;  // it does not have all rights
constexpr std::uint8_t opening_has_origin = 4;

void put(ByteWriter& out, const Access& access) {
    out.varint(access.roles.size());
    for (const auto role : access.roles)
        put_enum(out, role);
    out.varint(access.rules.size());
    for (const auto& rule : access.rules) {
        put_enum(out, rule.right);
        out.text(rule.prefix);
    }
}

Access get_access(ByteReader& in) {
    Access access;
    for (auto left = in.count(1); left > 0 && in.ok(); --left) {
        const auto role = get_enum(in, AccessRole::admin);
        const bool rises = access.roles.empty() || access.roles.back() < role;
        if (!rises) in.fail();
        access.roles.push_back(role);
    }
    for (auto left = in.count(2); left > 0 && in.ok(); --left) {
        const auto right = get_enum(in, Right::members);
        std::string prefix{in.text(access_prefix_bytes_max)};
        const bool of_members = right == Right::members && !prefix.empty();
        if (of_members || access.rules.size() == access_rules_max) in.fail();
        access.rules.push_back({right, std::move(prefix)});
    }
    if (access == Access::all()) in.fail();  // all rights are encoded without the flag
    return access;
}

void put(ByteWriter& out, const Origin& origin) {
    out.text(origin.host);
    out.text(origin.program);
    out.varint(origin.pid);
    out.text(origin.address);
}

Origin get_origin(ByteReader& in) {
    Origin origin;
    origin.host = in.text(origin_host_bytes_max);
    origin.program = in.text(origin_program_bytes_max);
    origin.pid = in.varint();
    origin.address = in.text(origin_address_bytes_max);
    if (!origin.is_set()) in.fail();  // this is encoded without the flag
    return origin;
}

}  // namespace

void put(ByteWriter& out, const OpenSession& opened) {
    const bool is_restricted = opened.access != Access::all();
    std::uint8_t flags = 0;
    if (opened.former_life_ended) flags |= opening_ends_former_life;
    if (is_restricted) flags |= opening_is_restricted;
    if (opened.origin.is_set()) flags |= opening_has_origin;
    out.u8(flags);
    out.u64(opened.nonce);
    out.u64(opened.node.raw());
    out.u64(opened.generation.incarnation.raw());
    out.varint(opened.generation.boot_epoch.raw());
    out.u32(opened.ttl_ms);
    out.u32(opened.rho_ppm);
    if (is_restricted) put(out, opened.access);
    if (opened.origin.is_set()) put(out, opened.origin);
}

OpenSession get_open_session(ByteReader& in) {
    OpenSession opened;
    const auto flags = in.u8();
    constexpr auto flags_max =
        opening_ends_former_life | opening_is_restricted | opening_has_origin;
    if (flags > flags_max) in.fail();
    opened.former_life_ended = (flags & opening_ends_former_life) != 0;
    opened.nonce = in.u64();
    opened.node = NodeId{in.u64()};
    opened.generation.incarnation = Incarnation{in.u64()};
    opened.generation.boot_epoch = BootEpoch{in.varint()};
    opened.ttl_ms = in.u32();
    opened.rho_ppm = in.u32();
    if ((flags & opening_is_restricted) != 0) opened.access = get_access(in);
    if ((flags & opening_has_origin) != 0) opened.origin = get_origin(in);
    if (opened.nonce == 0) in.fail();
    return opened;
}

void put(ByteWriter& out, const LockerTag& locker) {
    out.varint(locker.number);
    if (locker.is_set()) out.text(locker.label);
}

LockerTag get_locker(ByteReader& in) {
    LockerTag locker;
    locker.number = in.varint();
    if (locker.is_set()) locker.label = in.text(label_bytes_max);
    return locker;
}

void put(ByteWriter& out, const HoldTerms& terms) {
    out.varint(terms.max_hold_ms);
    out.varint(terms.min_hold_ms);
    out.varint(terms.lock_delay_ms);
}

HoldTerms get_terms(ByteReader& in) {
    const auto get = [&] {
        const auto ms = in.varint();
        if (ms > std::numeric_limits<std::uint32_t>::max()) in.fail();
        return static_cast<std::uint32_t>(ms);
    };
    HoldTerms terms;
    terms.max_hold_ms = get();
    terms.min_hold_ms = get();
    terms.lock_delay_ms = get();
    if (!terms.is_set()) in.fail();
    return terms;
}

void put(ByteWriter& out, const Slots& slots) {
    out.varint(slots.size());
    for (const auto slot : slots)
        out.varint(slot);
}

Slots get_slots(ByteReader& in) {
    Slots slots;
    const auto count = in.count(1);
    if (count == 0 || count > permits_max) in.fail();
    for (auto left = count; left > 0 && in.ok(); --left) {
        const auto slot = in.varint();
        if (slot >= semaphore_limit_max) in.fail();
        slots.push_back(static_cast<std::uint32_t>(slot));
    }
    return slots;
}

void put(ByteWriter& out, const Previous& previous) {
    put_enum(out, previous.how);
    out.varint(previous.token.raw());
    out.text(previous.label);
}

Previous get_previous(ByteReader& in) {
    Previous previous;
    previous.how = get_enum(in, Predecessor::broken);
    previous.token = FencingToken{in.varint()};
    previous.label = in.text(label_bytes_max);
    const bool is_nobody = !previous.token.is_set() && previous.label.empty();
    const bool wrong = previous.how == Predecessor::none ? !is_nobody : !previous.token.is_set();
    if (wrong) in.fail();
    return previous;
}

}  // namespace mortise::core
