// Decides which messages of Cap'n Proto's RPC the other side of a connection may send. Cap'n Proto
// keeps something for each question, capability and answer that it receives, and has no limits of
// its own. So each frame is checked here before Cap'n Proto reads it (docs/decisions/0028).
// It knows as well which frames belong to calls of Peer.send, of which Cap'n Proto gets none
// (send_call.hpp).
//
// Pure: its input is the content of a frame (rpc_frame.hpp), and its output whether the connection
// may continue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mortise::transport {

// The questions of this side's own calls of Peer.send have numbers from here on. RpcSystem gives
// its questions the lowest number that is free, and never comes so far.
constexpr std::uint32_t send_questions_from = std::uint32_t{1} << 31U;

// The properties of one RPC message that the guard needs.
struct RpcFrame {
    enum class Kind : std::uint8_t { bootstrap, call, answer, finish, release, abort, other };

    Kind kind = Kind::other;
    std::uint32_t question = 0;    // bootstrap, call, answer, finish
    std::size_t capabilities = 0;  // in the payload of a call or an answer
    // True if it has the form that all programs of ours use: results go to the caller, the sender
    // hosts its capabilities, an answer contains its results.
    bool is_plain = true;
    bool has_results = false;  // an answer that is no exception
    // The number of the capability that a call is made of, an answer offers, or that is released.
    // Not set for a call of an answer, or if the answer offers none.
    std::optional<std::uint32_t> capability = std::nullopt;

    // These are set for a call.
    std::size_t words = 0;  // of the whole frame, which is kept until the call ends
    bool is_hello = false;
    bool is_send = false;       // of peers
    bool is_of_answer = false;  // the target is part of the answer to another question,
    std::uint32_t of = 0;       // which has this number,
    std::size_t path = 0;       // at this depth of pointers,
    bool is_first_path = true;  // each of which is the first
};

struct RpcRules {
    // How many questions of the other side may be open. Zero: it answers only, and does not ask.
    std::size_t questions_max = 0;
    // The frames of the open calls together.
    std::size_t words_max = SIZE_MAX;
    // Until its hello is answered, it may say nothing else.
    bool only_hello = false;
    // It is a peer, and what hello has offered to it is a Peer.
    bool is_peer = false;
};

// `direct`: the frame belongs to a call of Peer.send, and must not reach Cap'n Proto.
enum class RpcVerdict : std::uint8_t { ok, direct, ended, refused };

class RpcGuard {
public:
    explicit RpcGuard(RpcRules rules) : rules_{rules} {}

    void set_rules(RpcRules rules) { rules_ = rules; }

    // The other side sent this frame. `ended`: it announces that it will close.
    [[nodiscard]] RpcVerdict received(const RpcFrame& frame);
    // This side sent this frame. An answer counts when it is written: until then it occupies memory
    // here.
    void sent(const RpcFrame& frame);

    // Why the last frame was refused: a few words for the log.
    [[nodiscard]] const char* cause() const { return cause_; }
    // The open questions of the other side.
    [[nodiscard]] std::size_t open() const { return open_.size(); }
    // The other side waits for an answer.
    [[nodiscard]] bool is_awaited() const;
    // The number of the capability that the other side has offered in its answer to hello.
    [[nodiscard]] std::optional<std::uint32_t> offer() const { return offer_; }

private:
    // A question is over when it is answered and the other side has finished with the answer.
    struct Open {
        std::uint32_t question = 0;
        std::size_t words = 0;
        bool is_bootstrap = false;
        bool is_hello = false;
        bool is_direct = false;
        bool is_answered = false;
        bool is_finished = false;
    };

    RpcVerdict bootstrap(const RpcFrame& frame);
    RpcVerdict call(const RpcFrame& frame);
    RpcVerdict answer(const RpcFrame& frame);
    RpcVerdict finish(const RpcFrame& frame);
    RpcVerdict release(const RpcFrame& frame);
    [[nodiscard]] bool is_direct(const RpcFrame& call) const;
    [[nodiscard]] const char* wrong_with_call(const RpcFrame& frame) const;
    [[nodiscard]] const char* wrong_with_target(const RpcFrame& frame) const;
    // The checks that apply to every question; empty if it is allowed.
    [[nodiscard]] const char* wrong_with_question(const RpcFrame& frame) const;
    RpcVerdict refuse(const char* cause);
    Open* find(std::uint32_t question);
    [[nodiscard]] const Open* find(std::uint32_t question) const;
    void forget_if_over(const Open& open);

    RpcRules rules_;
    std::vector<Open> open_;                // few: searched from the front
    std::size_t words_ = 0;                 // of those
    std::size_t bootstraps_ = 0;            // since the start
    std::optional<std::uint32_t> offered_;  // by this side, in its answer to hello; not released
    std::vector<std::uint32_t> asked_;      // questions of this side without an answer: few
    std::optional<std::uint32_t> hello_;    // one of those
    std::optional<std::uint32_t> offer_;    // of the other side
    const char* cause_ = "";
};

}  // namespace mortise::transport
