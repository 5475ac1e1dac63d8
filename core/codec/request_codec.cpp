#include "core/codec/request_codec.hpp"

#include <utility>

#include "core/base/fields.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/fields.hpp"

namespace mortise::core {

namespace {

// The numbers of the requests in the log. A number never changes and is never reused.
enum class RequestKind : std::uint8_t {
    acquire = first_request_kind,
    acquire_several = 9,  // the same request, with a count of its names
    release = 10,
    cancel = 11,
    downgrade = 12,
    upgrade = 13,
    set_value = 14,
    mark_consistent = 15,
    break_lock = 16,
    ask_release = 17,
    declined = 18,
    close_session = 19,
    acquire_cached = 20,  // an acquire, followed by the number of its tokens
    publish = 21,
    acquire_permits = 22,  // an acquire, followed by the permits and the limit
    resize = 23,
    remove = 24,
    count_down = 25,
    await_latch = 26,
    arrive = 27,
    quit = 28,
    // 29 is the clock
    evict_session = 30,  // from format 2 on
};

// Flags for the optional fields of an acquire. An absent field is not written.
constexpr std::uint8_t acquire_waits = 1;
// the lock record must have this policy, or the request is a mismatch
constexpr std::uint8_t acquire_names_policy = 2;
constexpr std::uint8_t acquire_has_policy = 4;  // a policy for a record that the request creates
constexpr std::uint8_t acquire_has_label = 8;
constexpr std::uint8_t acquire_has_priority = 16;
constexpr std::uint8_t acquire_has_locker = 32;
constexpr std::uint8_t acquire_has_terms = 64;
constexpr std::uint8_t acquire_all = 128;  // all of its names, not any one

constexpr std::uint8_t publish_by_locker = 1;
constexpr std::uint8_t publish_ended = 2;

std::uint8_t flags_of(const Acquire& c) {
    std::uint8_t flags = 0;
    if (c.wait) flags |= acquire_waits;
    if (c.policy_given) flags |= acquire_names_policy;
    if (c.policy != QueuePolicy{}) flags |= acquire_has_policy;
    if (!c.label.empty()) flags |= acquire_has_label;
    if (c.priority != 0) flags |= acquire_has_priority;
    if (c.locker.is_set()) flags |= acquire_has_locker;
    if (c.terms.is_set()) flags |= acquire_has_terms;
    if (c.which == Acquire::Which::all) flags |= acquire_all;
    return flags;
}

void put_options(ByteWriter& out, const Acquire& c) {
    if (c.policy != QueuePolicy{}) put_enum(out, c.policy);
    if (!c.label.empty()) out.text(c.label);
    if (c.priority != 0) out.u8(c.priority);
    if (c.locker.is_set()) put(out, c.locker);
    if (c.terms.is_set()) put(out, c.terms);
}

// An optional field must differ from its default, so that each request has only one encoding.
void get_options(ByteReader& in, std::uint8_t flags, Acquire& c) {
    const auto has = [&](std::uint8_t flag) { return (flags & flag) != 0; };
    c.wait = has(acquire_waits);
    c.policy_given = has(acquire_names_policy);
    if (has(acquire_has_policy)) c.policy = get_enum(in, QueuePolicy::prefer_writers);
    if (has(acquire_has_label)) c.label = in.text(label_bytes_max);
    if (has(acquire_has_priority)) c.priority = in.u8();
    if (has(acquire_has_locker)) c.locker = get_locker(in);
    if (has(acquire_has_terms)) c.terms = get_terms(in);
    if (has(acquire_all)) c.which = Acquire::Which::all;
    if (flags != flags_of(c) || c.priority > priority_max) in.fail();
}

std::string get_name(ByteReader& in) {
    std::string name{in.text(name_bytes_max)};
    if (name.empty()) in.fail();
    return name;
}

// --- writing ------------------------------------------------------------------------------------

// Writes the body of a request after its kind.
class BodyWriter {
public:
    BodyWriter(ByteWriter& out, Seq seq) : out_{out}, seq_{seq} {}

    void operator()(const Acquire& c) {
        const bool is_one = c.names.size() == 1;
        begin(kind_of(c));
        out_.u8(flags_of(c));
        if (!is_one) out_.varint(c.names.size());
        for (const auto& [name, mode] : c.names) {
            out_.text(name);
            put_enum(out_, mode);
        }
        put_options(out_, c);
        put_rest(c);
    }
    void operator()(const Release& c) {
        begin(RequestKind::release, c.operation);
        put_flag(out_, c.lost);
    }
    void operator()(const Cancel& c) { begin(RequestKind::cancel, c.operation); }
    void operator()(const Downgrade& c) {
        begin(RequestKind::downgrade, c.operation);
        put_enum(out_, c.mode);
    }
    void operator()(const Upgrade& c) {
        begin(RequestKind::upgrade, c.operation);
        put_flag(out_, c.wait);
    }
    void operator()(const SetValue& c) {
        begin(RequestKind::set_value, c.operation);
        out_.text(c.name);
        out_.text(c.bytes);
    }
    void operator()(const MarkConsistent& c) {
        begin(RequestKind::mark_consistent, c.operation);
        out_.text(c.name);
    }
    void operator()(const BreakLock& c) {
        begin(RequestKind::break_lock);
        put_flag(out_, c.immediate);
        out_.text(c.name);
        out_.varint(c.expected.raw());
        out_.text(c.reason);
        out_.text(c.asked_by);
    }
    void operator()(const EvictSession& c) {
        begin(RequestKind::evict_session);
        put_flag(out_, c.immediate);
        out_.varint(c.session.raw());
        out_.text(c.reason);
        out_.text(c.asked_by);
    }
    void operator()(const AskRelease& c) {
        begin(RequestKind::ask_release);
        out_.text(c.name);
        out_.text(c.reason);
    }
    void operator()(const Publish& c) {
        begin(RequestKind::publish, c.operation);
        out_.varint(c.token.raw());
        out_.u8((c.locker.is_set() ? publish_by_locker : 0) | (c.ended ? publish_ended : 0));
        if (c.locker.is_set()) put(out_, c.locker);
        out_.text(c.label);
    }
    void operator()(const Resize& c) {
        begin(RequestKind::resize);
        out_.text(c.name);
        out_.varint(c.limit);
        out_.varint(c.expected_version);
    }
    void operator()(const Remove& c) {
        begin(RequestKind::remove);
        out_.text(c.name);
    }
    void operator()(const CountDown& c) {
        begin(RequestKind::count_down);
        out_.text(c.name);
        out_.varint(c.expected);
        out_.varint(c.count);
    }
    void operator()(const AwaitLatch& c) {
        begin(RequestKind::await_latch);
        out_.text(c.name);
        out_.varint(c.expected);
        out_.text(c.label);
    }
    void operator()(const Arrive& c) {
        begin(RequestKind::arrive);
        out_.text(c.name);
        out_.varint(c.parties);
        put_flag(out_, c.drops);
        out_.text(c.label);
    }
    void operator()(const Quit& c) {
        begin(RequestKind::quit, c.operation);
        out_.text(c.name);
    }
    void operator()(const Declined& /*c*/) { begin(RequestKind::declined); }
    void operator()(const CloseSession& /*c*/) { begin(RequestKind::close_session); }

private:
    static RequestKind kind_of(const Acquire& c) {
        if (c.names.size() != 1) return RequestKind::acquire_several;
        if (c.permits != 0) return RequestKind::acquire_permits;
        return c.cached_tokens == 0 ? RequestKind::acquire : RequestKind::acquire_cached;
    }
    // A request for several names is not cached and asks for no permits, and one for permits is not
    // cached.
    void put_rest(const Acquire& c) {
        if (c.names.size() != 1) return;
        if (c.permits != 0) {
            out_.varint(c.permits);
            out_.varint(c.limit);
        } else if (c.cached_tokens != 0) {
            out_.varint(c.cached_tokens);
        }
    }
    void begin(RequestKind kind) { put_enum(out_, kind); }
    // Writes the distance from the request to the operation that it refers to, which is mostly a
    // small number. A reference to a later operation is invalid; its distance wraps around.
    void begin(RequestKind kind, Seq operation) {
        begin(kind);
        out_.varint(seq_.raw() - operation.raw());
    }

    ByteWriter& out_;
    Seq seq_;
};

// --- reading ------------------------------------------------------------------------------------

void get_name_and_mode(ByteReader& in, Acquire& c) {
    auto name = get_name(in);
    c.names.push_back({std::move(name), get_enum(in, LockMode::exclusive)});
}

Acquire get_acquire(ByteReader& in) {
    Acquire c;
    const auto flags = in.u8();
    get_name_and_mode(in, c);
    get_options(in, flags, c);
    return c;
}

Acquire get_acquire_cached(ByteReader& in) {
    auto c = get_acquire(in);
    const auto tokens = in.varint();
    if (tokens == 0 || tokens > cached_tokens_max) in.fail();
    c.cached_tokens = static_cast<std::uint32_t>(tokens);
    return c;
}

std::uint32_t get_number(ByteReader& in, std::uint32_t from, std::uint32_t to) {
    const auto number = in.varint();
    if (number < from || number > to) in.fail();
    return static_cast<std::uint32_t>(number);
}

Acquire get_acquire_permits(ByteReader& in) {
    auto c = get_acquire(in);
    c.permits = get_number(in, 1, permits_max);
    c.limit = get_number(in, 1, semaphore_limit_max);
    return c;
}

Resize get_resize(ByteReader& in) {
    auto name = get_name(in);
    const auto limit = get_number(in, 0, semaphore_limit_max);
    return {std::move(name), limit, in.varint()};
}

CountDown get_count_down(ByteReader& in) {
    auto name = get_name(in);
    const auto expected = get_number(in, 0, latch_max);
    return {std::move(name), expected, get_number(in, 0, latch_max)};
}

AwaitLatch get_await_latch(ByteReader& in) {
    auto name = get_name(in);
    const auto expected = get_number(in, 0, latch_max);
    return {std::move(name), expected, std::string{in.text(label_bytes_max)}};
}

Arrive get_arrive(ByteReader& in) {
    auto name = get_name(in);
    const auto parties = get_number(in, 1, barrier_parties_max);
    const bool drops = get_flag(in);
    return {std::move(name), parties, drops, std::string{in.text(label_bytes_max)}};
}

Acquire get_acquire_several(ByteReader& in) {
    Acquire c;
    const auto flags = in.u8();
    const auto names = in.count(2);
    if (names < 2 || names > names_at_once_max) in.fail();
    for (auto left = names; left > 0 && in.ok(); --left)
        get_name_and_mode(in, c);
    get_options(in, flags, c);
    return c;
}

// The reverse of what BodyWriter writes.
Seq get_operation(ByteReader& in, Seq seq) {
    const Seq operation{seq.raw() - in.varint()};
    if (!operation.is_set()) in.fail();
    return operation;
}

SetValue get_set_value(ByteReader& in, Seq seq) {
    const auto operation = get_operation(in, seq);
    auto name = get_name(in);
    return {operation, std::move(name), std::string{in.text(value_bytes_max)}};
}

BreakLock get_break_lock(ByteReader& in) {
    BreakLock c;
    c.immediate = get_flag(in);
    c.name = get_name(in);
    c.expected = get_id<FencingToken>(in);
    c.reason = in.text(reason_bytes_max);
    c.asked_by = in.text(asked_by_bytes_max);
    return c;
}

EvictSession get_evict_session(ByteReader& in) {
    EvictSession c;
    c.immediate = get_flag(in);
    c.session = get_id<SessionId>(in);
    c.reason = in.text(reason_bytes_max);
    c.asked_by = in.text(asked_by_bytes_max);
    return c;
}

AskRelease get_ask_release(ByteReader& in) {
    auto name = get_name(in);
    return {std::move(name), std::string{in.text(reason_bytes_max)}};
}

Publish get_publish(ByteReader& in, Seq seq) {
    Publish c;
    c.operation = get_operation(in, seq);
    c.token = get_id<FencingToken>(in);
    const auto flags = in.u8();
    if ((flags & ~(publish_by_locker | publish_ended)) != 0) in.fail();
    c.ended = (flags & publish_ended) != 0;
    if ((flags & publish_by_locker) != 0) {
        c.locker = get_locker(in);
        if (!c.locker.is_set()) in.fail();
    }
    c.label = in.text(label_bytes_max);
    return c;
}

Quit get_quit(ByteReader& in, Seq seq) {
    const auto operation = get_operation(in, seq);
    return {operation, get_name(in)};
}

}  // namespace

void put_request(ByteWriter& out, const Request& request) {
    std::visit(BodyWriter{out, request.seq}, request.body);
}

RequestBody get_request(ByteReader& in, std::uint8_t kind, Seq seq) {
    const auto operation = [&] { return get_operation(in, seq); };
    switch (static_cast<RequestKind>(kind)) {
        case RequestKind::acquire: return get_acquire(in);
        case RequestKind::acquire_several: return get_acquire_several(in);
        // Braces evaluate their elements from left to right.
        case RequestKind::release: return Release{operation(), get_flag(in)};
        case RequestKind::cancel: return Cancel{operation()};
        case RequestKind::downgrade:
            return Downgrade{operation(), get_enum(in, LockMode::exclusive)};
        case RequestKind::upgrade: return Upgrade{operation(), get_flag(in)};
        case RequestKind::set_value: return get_set_value(in, seq);
        case RequestKind::mark_consistent: return MarkConsistent{operation(), get_name(in)};
        case RequestKind::break_lock: return get_break_lock(in);
        case RequestKind::evict_session: return get_evict_session(in);
        case RequestKind::ask_release: return get_ask_release(in);
        case RequestKind::acquire_cached: return get_acquire_cached(in);
        case RequestKind::publish: return get_publish(in, seq);
        case RequestKind::acquire_permits: return get_acquire_permits(in);
        case RequestKind::resize: return get_resize(in);
        case RequestKind::remove: return Remove{get_name(in)};
        case RequestKind::count_down: return get_count_down(in);
        case RequestKind::await_latch: return get_await_latch(in);
        case RequestKind::arrive: return get_arrive(in);
        case RequestKind::quit: return get_quit(in, seq);
        case RequestKind::declined: return Declined{};
        case RequestKind::close_session: return CloseSession{};
    }
    in.fail();
    return Declined{};
}

}  // namespace mortise::core
