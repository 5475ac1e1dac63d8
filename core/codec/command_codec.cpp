#include "core/codec/command_codec.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/fields.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/fields.hpp"
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
    downgrade = 10,
    upgrade = 11,
    acquire_several = 12,
    acquire_for_locker = 13,
    set_value = 16,
    mark_consistent = 17,
    break_lock = 18,
    end_closure = 19,
    acquire_on_terms = 20,
    acquire_several_on_terms = 21,
    release_lost = 22,
    ask_release = 23,
    open_session_as = 24,  // with less than every right
};

// From here on a batch says how many commands it has.
constexpr std::uint8_t counted_format = 2;
// From here on there are requests of the kinds from downgrade on.
constexpr std::uint8_t conversions_format = 3;

std::uint8_t format_needed(Kind kind) {
    return kind < Kind::downgrade ? command_format_oldest : conversions_format;
}

// Who asked, of a break on behalf of an operator. Written empty for everything else, and not read.
constexpr std::size_t identity_bytes_max = asked_by_bytes_max;

constexpr std::uint8_t acquire_waits = 1;
constexpr std::uint8_t acquire_names_policy = 2;

void head(ByteWriter& out, Kind kind, std::string_view identity = {}) {
    put_enum(out, kind);
    out.text(identity);
}

Kind kind_of(const Access& access) {
    return access == Access::all() ? Kind::open_session : Kind::open_session_as;
}

void put_command(ByteWriter& out, const OpenSession& c) {
    const auto kind = kind_of(c.access);
    head(out, kind);
    put(out, c);
    if (kind == Kind::open_session_as) put(out, c.access);
}

void put_command(ByteWriter& out, const Renew& c) {
    head(out, Kind::renew);
    out.varint(c.renewals.size());
    for (const auto& renewal : c.renewals) {
        out.varint(renewal.session.raw());
        out.varint(renewal.number);
    }
}

void put_command(ByteWriter& out, const CloseSession& c) {
    head(out, Kind::close_session);
    out.varint(c.session.raw());
}

void put_command(ByteWriter& out, const Expire& c) {
    head(out, Kind::expire);
    out.varint(c.session.raw());
    out.varint(c.renewed_at.raw());
}

void put_command(ByteWriter& out, const Sweep& /*c*/) {
    head(out, Kind::sweep);
}

void put_command(ByteWriter& out, const Acknowledge& c) {
    head(out, Kind::acknowledge);
    out.varint(c.session.raw());
    out.varint(c.received.raw());
}

void put(ByteWriter& out, const Acquire& c) {
    std::uint8_t flags = 0;
    if (c.wait) flags |= acquire_waits;
    if (c.policy_given) flags |= acquire_names_policy;
    out.text(c.name);
    put_enum(out, c.mode);
    out.u8(flags);
    put_enum(out, c.policy);
    out.text(c.label);
    out.u8(c.priority);
    if (c.locker.is_set() || c.terms.is_set()) put(out, c.locker);
    if (c.terms.is_set()) put(out, c.terms);
}

void put(ByteWriter& out, const Release& c) {
    out.varint(c.operation.raw());
}
void put(ByteWriter& out, const Cancel& c) {
    out.varint(c.operation.raw());
}

void put(ByteWriter& out, const Downgrade& c) {
    out.varint(c.operation.raw());
    put_enum(out, c.mode);
}
void put(ByteWriter& out, const Upgrade& c) {
    out.varint(c.operation.raw());
    put_flag(out, c.wait);
}

void put(ByteWriter& out, const SetValue& c) {
    out.varint(c.operation.raw());
    out.text(c.name);
    out.text(c.bytes);
}
void put(ByteWriter& out, const MarkConsistent& c) {
    out.varint(c.operation.raw());
    out.text(c.name);
}

void put(ByteWriter& out, const BreakLock& c) {
    out.text(c.name);
    out.varint(c.expected.raw());
    out.text(c.reason);
    put_flag(out, c.immediate);
}

void put(ByteWriter& out, const AskRelease& c) {
    out.text(c.name);
    out.text(c.reason);
}

void put(ByteWriter& out, const AcquireSeveral& c) {
    std::uint8_t flags = 0;
    if (c.wait) flags |= acquire_waits;
    if (c.policy_given) flags |= acquire_names_policy;
    put_enum(out, c.which);
    out.varint(c.names.size());
    for (const auto& [name, mode] : c.names) {
        out.text(name);
        put_enum(out, mode);
    }
    out.u8(flags);
    put_enum(out, c.policy);
    out.text(c.label);
    out.u8(c.priority);
    out.varint(c.also_after.size());
    for (const auto seq : c.also_after)
        out.varint(seq.raw());
    put(out, c.locker);
    if (c.terms.is_set()) put(out, c.terms);
}

Kind kind_of(const Acquire& c) {
    if (c.terms.is_set()) return Kind::acquire_on_terms;
    return c.locker.is_set() ? Kind::acquire_for_locker : Kind::acquire;
}

Kind kind_of(const AcquireSeveral& c) {
    return c.terms.is_set() ? Kind::acquire_several_on_terms : Kind::acquire_several;
}

Kind kind_of(const RequestBody& body) {
    return std::visit(
        Overloaded{[](const Acquire& c) { return kind_of(c); },
                   [](const Release& c) { return c.lost ? Kind::release_lost : Kind::release; },
                   [](const Cancel&) { return Kind::cancel; },
                   [](const Downgrade&) { return Kind::downgrade; },
                   [](const Upgrade&) { return Kind::upgrade; },
                   [](const AcquireSeveral& c) { return kind_of(c); },
                   [](const SetValue&) { return Kind::set_value; },
                   [](const MarkConsistent&) { return Kind::mark_consistent; },
                   [](const BreakLock&) { return Kind::break_lock; },
                   [](const AskRelease&) { return Kind::ask_release; }},
        body);
}

void put_command(ByteWriter& out, const Request& c) {
    const auto* breaks = std::get_if<BreakLock>(&c.body);
    head(out, kind_of(c.body), breaks == nullptr ? std::string_view{} : breaks->asked_by);
    out.varint(c.session.raw());
    out.varint(c.seq.raw());
    out.varint(c.after.raw());
    std::visit([&](const auto& body) { put(out, body); }, c.body);
}

void put_command(ByteWriter& out, const EndClosure& c) {
    head(out, Kind::end_closure);
    out.varint(c.closure.raw());
}

OpenSession get_opening(ByteReader& in, Kind kind) {
    auto c = get_open_session(in);
    if (kind == Kind::open_session_as) c.access = get_access(in);
    const bool is_somebody = c.node.is_set() && c.incarnation.is_set() && c.boot_epoch.is_set();
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

Acquire get_acquire(ByteReader& in, Kind kind) {
    Acquire c;
    c.name = in.text(name_bytes_max);
    c.mode = get_enum(in, LockMode::exclusive);
    const auto flags = in.u8();
    c.policy = get_enum(in, QueuePolicy::prefer_writers);
    c.label = in.text(label_bytes_max);
    c.priority = in.u8();
    c.wait = (flags & acquire_waits) != 0;
    c.policy_given = (flags & acquire_names_policy) != 0;
    const bool known = flags <= (acquire_waits | acquire_names_policy);
    if (kind != Kind::acquire) c.locker = get_locker(in);
    if (kind == Kind::acquire_on_terms) c.terms = get_terms(in);
    if (kind == Kind::acquire_for_locker && !c.locker.is_set()) in.fail();
    if (c.name.empty() || !known || c.priority > priority_max) in.fail();
    return c;
}

AcquireSeveral get_acquire_several(ByteReader& in, Kind kind) {
    AcquireSeveral c;
    c.which = get_enum(in, AcquireSeveral::Which::any);
    for (auto left = in.count(2); left > 0 && in.ok(); --left) {
        std::string name{in.text(name_bytes_max)};
        if (name.empty() || c.names.size() == names_at_once_max) in.fail();
        c.names.push_back({std::move(name), get_enum(in, LockMode::exclusive)});
    }
    const auto flags = in.u8();
    c.policy = get_enum(in, QueuePolicy::prefer_writers);
    c.label = in.text(label_bytes_max);
    c.priority = in.u8();
    for (auto left = in.count(1); left > 0 && in.ok(); --left) {
        if (c.also_after.size() == names_at_once_max) in.fail();
        c.also_after.push_back(get_id<Seq>(in));
    }
    c.locker = get_locker(in);
    if (kind == Kind::acquire_several_on_terms) c.terms = get_terms(in);
    c.wait = (flags & acquire_waits) != 0;
    c.policy_given = (flags & acquire_names_policy) != 0;
    const bool known = flags <= (acquire_waits | acquire_names_policy);
    if (c.names.empty() || !known || c.priority > priority_max) in.fail();
    return c;
}

Downgrade get_downgrade(ByteReader& in) {
    const auto operation = get_id<Seq>(in);
    return {operation, get_enum(in, LockMode::exclusive)};
}

Upgrade get_upgrade(ByteReader& in) {
    const auto operation = get_id<Seq>(in);
    return {operation, get_flag(in)};
}

std::string get_name(ByteReader& in) {
    std::string name{in.text(name_bytes_max)};
    if (name.empty()) in.fail();
    return name;
}

SetValue get_set_value(ByteReader& in) {
    const auto operation = get_id<Seq>(in);
    auto name = get_name(in);
    return {operation, std::move(name), std::string{in.text(value_bytes_max)}};
}

MarkConsistent get_mark_consistent(ByteReader& in) {
    const auto operation = get_id<Seq>(in);
    return {operation, get_name(in)};
}

AskRelease get_ask_release(ByteReader& in) {
    auto name = get_name(in);
    return {std::move(name), std::string{in.text(reason_bytes_max)}};
}

BreakLock get_break_lock(ByteReader& in, std::string_view identity) {
    BreakLock c;
    c.asked_by = identity;
    c.name = get_name(in);
    c.expected = get_id<FencingToken>(in);
    c.reason = in.text(reason_bytes_max);
    c.immediate = get_flag(in);
    return c;
}

Request get_request(ByteReader& in, Kind kind, std::string_view identity) {
    Request c;
    c.session = get_id<SessionId>(in);
    c.seq = get_id<Seq>(in);
    c.after = Seq{in.varint()};
    switch (kind) {
        case Kind::acquire:
        case Kind::acquire_on_terms:
        case Kind::acquire_for_locker: c.body = get_acquire(in, kind); break;
        case Kind::release:
        case Kind::release_lost:
            c.body = Release{get_id<Seq>(in), kind == Kind::release_lost};
            break;
        case Kind::downgrade: c.body = get_downgrade(in); break;
        case Kind::upgrade: c.body = get_upgrade(in); break;
        case Kind::acquire_several:
        case Kind::acquire_several_on_terms: c.body = get_acquire_several(in, kind); break;
        case Kind::set_value: c.body = get_set_value(in); break;
        case Kind::mark_consistent: c.body = get_mark_consistent(in); break;
        case Kind::break_lock: c.body = get_break_lock(in, identity); break;
        case Kind::ask_release: c.body = get_ask_release(in); break;
        default: c.body = Cancel{get_id<Seq>(in)}; break;
    }
    return c;
}

Command get_command(ByteReader& in, std::uint8_t format) {
    const auto kind = static_cast<Kind>(in.u8());
    const auto identity = in.text(identity_bytes_max);
    if (format_needed(kind) > format) in.fail();
    switch (kind) {
        case Kind::open_session:
        case Kind::open_session_as: return get_opening(in, kind);
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
        case Kind::end_closure: return EndClosure{get_id<ClosureId>(in)};
        case Kind::acquire:
        case Kind::release:
        case Kind::cancel:
        case Kind::downgrade:
        case Kind::upgrade:
        case Kind::acquire_several:
        case Kind::set_value:
        case Kind::mark_consistent:
        case Kind::break_lock:
        case Kind::ask_release:
        case Kind::acquire_on_terms:
        case Kind::acquire_several_on_terms:
        case Kind::release_lost:
        case Kind::acquire_for_locker: return get_request(in, kind, identity);
    }
    in.fail();
    return Sweep{};
}

struct Head {
    std::uint8_t format = 0;
    std::optional<std::size_t> count;
};

Head get_head(ByteReader& in) {
    Head head{in.u8(), {}};
    if (head.format < command_format_oldest || head.format > command_format_newest) in.fail();
    if (head.format >= counted_format) head.count = in.count(1);
    if (head.count.value_or(0) > batch_commands_max) in.fail();
    return head;
}

}  // namespace

std::uint8_t format_needed(const RequestBody& body) {
    return format_needed(kind_of(body));
}

std::uint8_t format_needed(const Access& access) {
    return format_needed(kind_of(access));
}

void BatchBuilder::add(const Command& command, std::size_t names) {
    ByteWriter out;
    std::visit([&](const auto& c) { put_command(out, c); }, command);
    const auto* request = std::get_if<Request>(&command);
    auto needed = request ? format_needed(request->body) : command_format_oldest;
    if (std::holds_alternative<EndClosure>(command)) needed = format_needed(Kind::end_closure);
    const auto* opening = std::get_if<OpenSession>(&command);
    if (opening != nullptr) needed = format_needed(opening->access);
    add_encoded(out.take(), 1, needed);
    names_ += names;
}

void BatchBuilder::add_encoded(std::string_view commands, std::size_t count, std::uint8_t format) {
    commands_.append(commands);
    count_ += count;
    needed_ = std::max(needed_, format);
}

Bytes BatchBuilder::take(std::uint8_t format) {
    format = std::max(format, std::exchange(needed_, command_format_oldest));
    ByteWriter head;
    head.u8(format);
    if (format >= counted_format) head.varint(count_);
    auto batch = head.take();
    batch += std::exchange(commands_, {});
    count_ = 0;
    names_ = 0;
    return Bytes{std::move(batch)};
}

std::optional<std::vector<Command>> decode_batch(const Bytes& batch, std::uint8_t newest) {
    ByteReader in{batch.view()};
    const auto head = get_head(in);
    // What a batch may weigh is the same in every form: heads differ.
    if (head.format > newest || in.remaining() >= batch_bytes_max) return std::nullopt;
    std::vector<Command> commands;
    while (in.ok() && !in.done()) {
        if (commands.size() == head.count.value_or(batch_commands_max)) return std::nullopt;
        commands.push_back(get_command(in, head.format));
    }
    const bool is_whole = commands.size() == head.count.value_or(commands.size());
    if (!in.done() || !is_whole) return std::nullopt;
    return commands;
}

std::uint8_t format_of(const Bytes& batch) {
    return ByteReader{batch.view()}.u8();
}

std::string_view commands_of(const Bytes& batch) {
    ByteReader in{batch.view()};
    (void)get_head(in);
    MORTISE_CHECK(in.ok());
    return batch.view().substr(batch.size() - in.remaining());
}

}  // namespace mortise::core
