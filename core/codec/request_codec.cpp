#include "core/codec/request_codec.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/fields.hpp"
#include "core/locks/field_coding.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/fields.hpp"

namespace mortise::core {

namespace {

// The numbers in the log of those requests that list no fields.
enum class RequestKind : std::uint8_t {
    acquire = first_request_kind,
    acquire_several = 9,  // the same request, with a count of its names
    acquire_cached = 20,  // an acquire, followed by the number of its tokens
    publish = 21,
    acquire_permits = 22,  // an acquire, followed by the permits and the limit
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

// --- writing ------------------------------------------------------------------------------------

// Writes the body of a request after its kind.
class BodyWriter {
public:
    BodyWriter(ByteWriter& out, Seq seq) : out_{out}, seq_{seq} {}

    void operator()(const Acquire& c) {
        const bool is_one = c.names.size() == 1;
        put_enum(out_, kind_of(c));
        out_.u8(flags_of(c));
        if (!is_one) out_.varint(c.names.size());
        for (const auto& [name, mode] : c.names) {
            out_.text(name);
            put_enum(out_, mode);
        }
        put_options(out_, c);
        put_rest(c);
    }
    void operator()(const Publish& c) {
        put_enum(out_, RequestKind::publish);
        put_operation(out_, seq_, c.operation);
        out_.varint(c.token.raw());
        out_.u8((c.locker.is_set() ? publish_by_locker : 0) | (c.ended ? publish_ended : 0));
        if (c.locker.is_set()) put(out_, c.locker);
        out_.text(c.label);
    }
    void operator()(const DescribedRequest auto& c) {
        out_.u8(c.log_number);
        FieldWriter of{out_, seq_};
        c.fields(of, c);
    }

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

Acquire get_acquire_permits(ByteReader& in) {
    auto c = get_acquire(in);
    c.permits = get_number(in, 1, permits_max);
    c.limit = get_number(in, 1, semaphore_limit_max);
    return c;
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

template <class Body>
bool is_of_number(std::uint8_t number) {
    if constexpr (DescribedRequest<Body>) return number == Body::log_number;
    return false;
}

template <class Body>
Body get_fields(ByteReader& in, Seq seq) {
    Body body;
    if constexpr (DescribedRequest<Body>) {
        FieldReader of{in, seq};
        body.fields(of, body);
    }
    return body;
}

// Fails if none of these requests has the number.
template <class Body, class... Others>
RequestBody get_described(ByteReader& in, std::uint8_t number, Seq seq,
                          std::type_identity<std::variant<Body, Others...>> /*all*/) {
    if (is_of_number<Body>(number)) return get_fields<Body>(in, seq);
    if constexpr (sizeof...(Others) != 0)
        return get_described(in, number, seq, std::type_identity<std::variant<Others...>>{});
    in.fail();
    return Declined{};
}

}  // namespace

void put_request(ByteWriter& out, const Request& request) {
    std::visit(BodyWriter{out, request.seq}, request.body);
}

RequestBody get_request(ByteReader& in, std::uint8_t kind, Seq seq) {
    switch (static_cast<RequestKind>(kind)) {
        case RequestKind::acquire: return get_acquire(in);
        case RequestKind::acquire_several: return get_acquire_several(in);
        case RequestKind::acquire_cached: return get_acquire_cached(in);
        case RequestKind::publish: return get_publish(in, seq);
        case RequestKind::acquire_permits: return get_acquire_permits(in);
    }
    return get_described(in, kind, seq, std::type_identity<RequestBody>{});
}

}  // namespace mortise::core
