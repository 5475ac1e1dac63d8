// Every kind of message that others send, read by transport's decoders into plain types. What is
// accepted is encoded again: it decodes to the same value, and encodes to the same bytes.
#include <utility>
#include <vector>

#include <capnp/message.h>
#include <capnp/serialize.h>

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/words.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/wire_size.hpp"

namespace mortise::fuzz {
namespace {

using namespace transport;
using Words = kj::ArrayPtr<const capnp::word>;

capnp::ReaderOptions options_for(Words words) {
    return {4 * words.size(), nesting_max};  // as in MessageStream
}

template <class Wire>
struct Struct {
    static auto root(capnp::MessageReader& message) { return message.getRoot<Wire>(); }
    template <class Value>
    static void put(const Value& value, capnp::MessageBuilder& message) {
        write(value, message.initRoot<Wire>());
    }
};

template <class Wire>
struct ListOf {
    static auto root(capnp::MessageReader& message) {
        return message.getRoot<capnp::AnyPointer>().getAs<capnp::List<Wire>>();
    }
    template <class Value>
    static void put(const Value& value, capnp::MessageBuilder& message) {
        auto root = message.initRoot<capnp::AnyPointer>();
        write(value, root.initAs<capnp::List<Wire>>(static_cast<unsigned>(value.size())));
    }
};

// Only plain values of the message are used after this.
template <class Root>
auto read_words(Words words) {
    capnp::FlatArrayMessageReader message{words, options_for(words)};
    return read_guarded([&] { return Root::root(message); });
}

template <class Root, class Value>
kj::Array<capnp::word> written(const Value& value) {
    capnp::MallocMessageBuilder message;
    Root::put(value, message);
    return capnp::messageToFlatArray(message);
}

// A request for one name is not written by this function.
bool is_written(const ListRequest& request) {
    return !request.is_exact;
}
bool is_written(const auto& /*value*/) {
    return true;
}

// Waiting messages are counted by their weight: no message is larger, except for its header.
void weigh(const core::PeerMessage& message) {
    FUZZ_CHECK(written<Struct<wire::PeerMessage>>(message).size() <= wire_words(message) + 8);
}
void weigh(const std::vector<core::PeerMessage>& batch) {
    for (const auto& message : batch)
        weigh(message);
}
void weigh(const auto& /*value*/) {}

template <class Root>
void check(Words words) {
    const auto value = read_words<Root>(words);
    if (!value) {
        FUZZ_CHECK(!value.error().what.empty());
        return;
    }
    if (!is_written(*value)) return;
    weigh(*value);
    const auto once = written<Root>(*value);
    const auto again = read_words<Root>(once);
    FUZZ_CHECK(again);
    FUZZ_CHECK(written<Root>(*again).asBytes() == once.asBytes());
}

void check_refusal(Words words) {
    capnp::FlatArrayMessageReader message{words, options_for(words)};
    const auto refusal = read(message.getRoot<wire::Refused>());
    capnp::MallocMessageBuilder again;
    write(refusal, again.initRoot<wire::Refused>());
    FUZZ_CHECK(read(again.getRoot<wire::Refused>().asReader()) == refusal);
}

constexpr void (*roots[])(Words) = {
    check<ListOf<wire::PeerMessage>>,  check<Struct<wire::PeerMessage>>,
    check<Struct<wire::Hello>>,        check_refusal,
    check<Struct<wire::Status>>,       check<Struct<wire::ListRequest>>,
    check<Struct<wire::ListAnswer>>,   check<Struct<wire::MembershipGoal>>,
    check<Struct<wire::ChangeAnswer>>,
};

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::fuzz;
    Choices choices{data, size};
    const auto root = choices.below(std::size(roots));
    const auto words = words_of(choices.rest());
    try {
        roots[root](words);
    } catch (const kj::Exception&) {
        // There is no message in the words: RPC closes such a connection.
    }
    return 0;
}
