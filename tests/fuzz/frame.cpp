// The checks between a socket and Cap'n Proto: the header of each frame, as far as it has arrived;
// the content of the frame; and whether the other side may send it.
#include <algorithm>
#include <variant>

#include <capnp/serialize.h>

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/words.hpp"
#include "transport/rpc/rpc_frame.hpp"
#include "transport/rpc/send_call.hpp"
#include "transport/wire/frame_check.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::fuzz {
namespace {

using namespace transport;

constexpr std::size_t limits[] = {1, 16, hello_frame_words_max, client_frame_words_max,
                                  forwarding_frame_words_max};
constexpr RpcRules rules[] = {
    {.questions_max = 4, .only_hello = true},
    {.questions_max = questions_max, .words_max = question_words_max},
    {.questions_max = own_questions_max},
    {},
    {.questions_max = questions_max, .is_peer = true},
};

// The longest header: a count of segments, sixteen sizes, and padding.
constexpr std::size_t head_bytes_max = 72;

bool is_same(const FrameCheck& one, const FrameCheck& other) {
    if (one.index() != other.index()) return false;
    if (const auto* bad = std::get_if<BadFrame>(&one)) return *bad == std::get<BadFrame>(other);
    const auto* size = std::get_if<FrameSize>(&one);
    return size == nullptr || size->words() == std::get<FrameSize>(other).words();
}

// However much of the first header has arrived: the check asks for more, or its verdict is that for
// the whole header.
void check_pieces(std::string_view stream, std::size_t words_max, std::size_t piece) {
    const auto whole = check_frame(stream, words_max);
    for (std::size_t at = 0; at < std::min(stream.size(), head_bytes_max); at += piece) {
        const auto part = check_frame(stream.substr(0, at), words_max);
        if (const auto* more = std::get_if<MoreNeeded>(&part)) {
            FUZZ_CHECK(more->bytes > at && more->bytes <= head_bytes_max);
        } else {
            FUZZ_CHECK(is_same(part, whole));
        }
    }
}

void check_size(std::string_view stream, const FrameSize& size, std::size_t words_max) {
    FUZZ_CHECK(size.words() <= words_max);
    FUZZ_CHECK(size.head_words >= 1 && size.body_words >= 1);
    // Cap'n Proto would read the same number of words.
    const auto head = words_of(stream.substr(0, size.head_words * word_bytes));
    FUZZ_CHECK(capnp::expectedSizeInWordsFromPrefix(head) == size.words());
}

void check_rpc(std::string_view frame, RpcGuard& guard, Choices& choices) {
    const auto words = words_of(frame);
    const auto said = read_rpc_frame(words);
    if (!said) return;
    FUZZ_CHECK(said->words == words.size());
    const auto before = guard.open();
    const auto verdict = guard.received(*said);
    const bool accepted = verdict == RpcVerdict::ok || verdict == RpcVerdict::direct;
    FUZZ_CHECK(accepted || guard.open() == before);
    FUZZ_CHECK(guard.open() <= questions_max);
    if (verdict == RpcVerdict::direct && said->kind == RpcFrame::Kind::call) {
        const auto batch = read_send(words);
        FUZZ_CHECK(!batch || batch->size() <= batch_messages_max);
    }
    // This side answers, or asks a question itself.
    if (choices.coin()) {
        RpcFrame answer;
        answer.kind = choices.coin() ? RpcFrame::Kind::answer : RpcFrame::Kind::call;
        answer.question = choices.coin() ? said->question : choices.byte();
        if (choices.coin()) answer.capability = choices.byte();
        guard.sent(answer);
    }
}

// Reads frame by frame, as long as each is valid.
void read(std::string_view stream, std::size_t words_max, RpcGuard& guard, Choices& choices) {
    while (true) {
        const auto check = check_frame(stream, words_max);
        if (const auto* more = std::get_if<MoreNeeded>(&check)) {
            FUZZ_CHECK(more->bytes > stream.size());
            return;
        }
        const auto* size = std::get_if<FrameSize>(&check);
        if (size == nullptr) return;
        check_size(stream, *size, words_max);
        const auto bytes = size->words() * word_bytes;
        if (bytes > stream.size()) return;
        check_rpc(stream.substr(0, bytes), guard, choices);
        stream.remove_prefix(bytes);
    }
}

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::fuzz;
    Choices choices{data, size};
    const auto words_max = limits[choices.below(std::size(limits))];
    mortise::transport::RpcGuard guard{rules[choices.below(std::size(rules))]};
    const auto piece = 1 + choices.below(64);
    Choices choices_of_ours{choices.text(16)};
    const auto stream = choices.rest();
    check_pieces(stream, words_max, piece);
    read(stream, words_max, guard, choices_of_ours);
    return 0;
}
