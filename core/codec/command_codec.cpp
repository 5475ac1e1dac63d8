#include "core/codec/command_codec.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/check.hpp"
#include "core/base/fields.hpp"
#include "core/base/overloaded.hpp"
#include "core/codec/request_codec.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/fields.hpp"

namespace mortise::core {

namespace {

// The numbers of the commands in the log, below those of requests (request_codec.hpp). A number
// never changes and is never reused.
enum class Kind : std::uint8_t {
    open_session = 1,
    renew = 2,
    expire = 3,
    sweep = 4,
    acknowledge = 5,
    end_closure = 6,
    run = 7,  // not a command: it precedes the first request of a run
    // The numbers below those of requests are used up. Format 2 has these.
    clock = 29,
    raise_ceiling = 31,
};
static_assert(static_cast<std::uint8_t>(Kind::run) < first_request_kind);

void put_command(ByteWriter& out, const OpenSession& c) {
    put_enum(out, Kind::open_session);
    put(out, c);
}

void put_command(ByteWriter& out, const Renew& c) {
    put_enum(out, Kind::renew);
    out.varint(c.renewals.size());
    for (const auto& renewal : c.renewals) {
        out.varint(renewal.session.raw());
        out.varint(renewal.number);
    }
}

void put_command(ByteWriter& out, const Expire& c) {
    put_enum(out, Kind::expire);
    out.varint(c.session.raw());
    out.varint(c.renewed_at.raw());
}

void put_command(ByteWriter& out, const Sweep& /*c*/) {
    put_enum(out, Kind::sweep);
}

void put_command(ByteWriter& out, const Acknowledge& c) {
    put_enum(out, Kind::acknowledge);
    out.varint(c.session.raw());
    out.varint(c.received.raw());
}

void put_command(ByteWriter& out, const EndClosure& c) {
    put_enum(out, Kind::end_closure);
    out.varint(c.closure.raw());
}

void put_command(ByteWriter& out, const Clock& c) {
    put_enum(out, Kind::clock);
    out.varint(c.ms);
}

void put_command(ByteWriter& out, const RaiseCeiling& c) {
    put_enum(out, Kind::raise_ceiling);
    out.varint(c.to.raw());
}

template <class Body>
constexpr std::uint8_t oldest_format() {
    if constexpr (requires { Body::log_format; }) return Body::log_format;
    return command_format_oldest;
}

template <class... Bodies>
constexpr std::array<std::uint8_t, sizeof...(Bodies)> oldest_formats(
    std::type_identity<std::variant<Bodies...>> /*all*/) {
    return {oldest_format<Bodies>()...};
}

// The oldest format that has the request, or the command.
std::uint8_t oldest_format_of(const RequestBody& body) {
    static constexpr auto formats = oldest_formats(std::type_identity<RequestBody>{});
    return formats[body.index()];
}

std::uint8_t oldest_format_of(const Command& command) {
    if (const auto* request = std::get_if<Request>(&command))
        return oldest_format_of(request->body);
    if (std::holds_alternative<RaiseCeiling>(command)) return command_format_of_ceilings;
    const auto* opening = std::get_if<OpenSession>(&command);
    const bool is_newer =
        std::holds_alternative<Clock>(command) || (opening != nullptr && opening->origin.is_set());
    return is_newer ? command_format_of_origins : command_format_oldest;
}

void put_run(ByteWriter& out, const RequestRun& run) {
    put_enum(out, Kind::run);
    out.varint(run.session.raw());
    out.varint(run.next.raw());
}

bool goes_on(const RequestRun& run, const Request& request) {
    return request.session == run.session && request.seq == run.next;
}

OpenSession get_opening(ByteReader& in, std::uint8_t format) {
    auto c = get_open_session(in);
    if (c.origin.is_set() && format < command_format_of_origins) in.fail();
    // A client has no directory, so it names none of these (S49).
    const bool is_client = !c.node.is_set() && c.generation == Generation{} && !c.former_life_ended;
    const bool is_somebody = is_client || (c.node.is_set() && c.generation.is_set());
    const bool is_sound =
        c.ttl_ms != 0 && c.ttl_ms <= session_ttl_ms_max && c.rho_ppm < rho_ppm_end;
    if (!is_somebody || !is_sound) in.fail();
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

Clock get_clock(ByteReader& in, std::uint8_t format) {
    const Clock c{in.varint()};
    if (c.ms == 0 || c.ms > clock_ms_max || format < command_format_of_origins) in.fail();
    return c;
}

RaiseCeiling get_ceiling(ByteReader& in, std::uint8_t format) {
    const RaiseCeiling c{get_id<FencingToken>(in)};
    if (c.to.raw() > token_ceiling_max || format < command_format_of_ceilings) in.fail();
    return c;
}

// Fails if no run precedes the request.
Request get_next_request(ByteReader& in, std::uint8_t kind, std::uint8_t format, RequestRun& run) {
    if (!run.session.is_set() || !run.next.is_set()) in.fail();
    Request c{run.session, run.next, get_request(in, kind, run.next)};
    if (format < oldest_format_of(c.body)) in.fail();
    run.next = run.next.next();
    return c;
}

// Fails if the format does not have the command: an older version would not read it either.
Command get_command(ByteReader& in, std::uint8_t format, RequestRun& run) {
    const auto kind = in.u8();
    switch (static_cast<Kind>(kind)) {
        case Kind::open_session: return get_opening(in, format);
        case Kind::renew: return get_renew(in);
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
        case Kind::clock: return get_clock(in, format);
        case Kind::raise_ceiling: return get_ceiling(in, format);
        case Kind::run: {
            run.session = get_id<SessionId>(in);
            run.next = get_id<Seq>(in);
            return get_next_request(in, in.u8(), format, run);
        }
    }
    return get_next_request(in, kind, format, run);
}

struct Head {
    std::uint8_t format = 0;
    std::size_t count = 0;
};

Head get_head(ByteReader& in) {
    Head head;
    head.format = in.u8();
    head.count = in.count(1);
    if (head.format < command_format_oldest || head.count > batch_commands_max) in.fail();
    return head;
}

}  // namespace

void BatchBuilder::add(const Command& command, std::size_t names) {
    std::visit(Overloaded{[&](const Request& request) { add_request(request); },
                          [&](const auto& other) { put_command(commands_, other); }},
               command);
    ++count_;
    names_ += names;
    needed_ = std::max(needed_, oldest_format_of(command));
    is_sealed_ = is_sealed_ || has_to_be_sealed(command);
}

void BatchBuilder::add_request(const Request& request) {
    if (!goes_on(run_, request)) {
        run_ = {request.session, request.seq};
        put_run(commands_, run_);
    }
    put_request(commands_, request);
    run_.next = request.seq.next();
}

// Adds commands that already contain their runs.
void BatchBuilder::add_encoded(std::string_view commands, std::size_t count, std::uint8_t format,
                               std::size_t names) {
    commands_.raw(commands);
    run_ = {};
    count_ += count;
    names_ += names;
    needed_ = std::max(needed_, format);
}

Bytes BatchBuilder::take(std::uint8_t format) {
    ByteWriter batch;
    batch.u8(std::max(format, needed_));
    batch.varint(count_);
    batch.raw(commands_.take());
    *this = {};
    return Bytes{batch.take()};
}

Bytes in_format_1(const Bytes& batch) {
    auto commands = decode_batch(batch, format_of(batch));
    MORTISE_CHECK(commands.has_value());
    bool differs = false;
    BatchBuilder without;
    for (auto& command : *commands) {
        auto* opening = std::get_if<OpenSession>(&command);
        auto* request = std::get_if<Request>(&command);
        const bool is_newer = oldest_format_of(command) > command_format_oldest;
        differs = differs || (is_newer && (opening != nullptr || request != nullptr));
        if (opening != nullptr) opening->origin = {};
        if (request != nullptr && is_newer) request->body = Declined{};
        without.add(command);
    }
    return differs ? without.take() : batch;
}

std::optional<std::vector<Command>> decode_batch(const Bytes& batch, std::uint8_t newest) {
    ByteReader in{batch.view()};
    const auto head = get_head(in);
    // The size limit does not include the head, because a leader writes a new one.
    if (head.format > newest || in.remaining() >= batch_bytes_max) return std::nullopt;
    std::vector<Command> commands;
    RequestRun run;
    while (in.ok() && !in.done()) {
        if (commands.size() == head.count) return std::nullopt;
        commands.push_back(get_command(in, head.format, run));
    }
    if (!in.done() || commands.size() != head.count) return std::nullopt;
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
