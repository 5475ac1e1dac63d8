// Which messages of Cap'n Proto's RPC the other side of a connection may send. Cap'n Proto keeps
// something for each question, capability and answer that it is told of, and has no bounds of its
// own; so a frame is looked at here before Cap'n Proto sees it (docs/decisions/0028).
//
// Pure: it is told what a frame says (rpc_frame.hpp), and answers whether the connection may go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace mortise::transport {

// What the guard has to know of one RPC message.
struct RpcFrame {
    enum class Kind : std::uint8_t { bootstrap, call, answer, finish, release, abort, other };

    Kind kind = Kind::other;
    std::uint32_t question = 0;    // bootstrap, call, answer, finish
    std::size_t capabilities = 0;  // in the payload of a call or an answer
    // Nothing but what every program of ours sends: results go to the caller, capabilities are
    // hosted by whoever sends them, an answer has its results in it.
    bool is_plain = true;

    // Of a call.
    std::size_t words = 0;  // of the whole frame, which is kept until the call ends
    bool is_hello = false;
    bool is_of_answer = false;  // the target is what another question will be answered with,
    std::uint32_t of = 0;       // this one,
    std::size_t path = 0;       // so many pointers deep,
    bool is_first_path = true;  // and every one of them the first
};

struct RpcRules {
    // How many questions of the other side may be open. None: it is asked, and does not ask.
    std::size_t questions_max = 0;
    // Frames of the calls among them, together.
    std::size_t words_max = SIZE_MAX;
    // Until its hello is answered, it may say nothing else.
    bool only_hello = false;
};

enum class RpcVerdict : std::uint8_t { ok, ended, refused };

class RpcGuard {
public:
    explicit RpcGuard(RpcRules rules) : rules_{rules} {}

    void set_rules(RpcRules rules) { rules_ = rules; }

    // The other side said this. `ended`: it says that it is about to close.
    [[nodiscard]] RpcVerdict received(const RpcFrame& frame);
    // This side said this. An answer counts from the moment when it is written: until then it
    // takes up memory here.
    void sent(const RpcFrame& frame);

    // Why the last frame was refused: a few words for the log.
    [[nodiscard]] const char* cause() const { return cause_; }
    // Questions of the other side that are not over.
    [[nodiscard]] std::size_t open() const { return open_.size(); }
    // It has asked something, and waits.
    [[nodiscard]] bool is_awaited() const;

private:
    // Over once it is answered and the asker has said that it is done with the answer.
    struct Open {
        std::uint32_t question = 0;
        std::size_t words = 0;
        bool is_bootstrap = false;
        bool is_hello = false;
        bool is_answered = false;
        bool is_finished = false;
    };

    RpcVerdict bootstrap(const RpcFrame& frame);
    RpcVerdict call(const RpcFrame& frame);
    RpcVerdict answer(const RpcFrame& frame);
    RpcVerdict finish(const RpcFrame& frame);
    [[nodiscard]] const char* wrong_with_call(const RpcFrame& frame) const;
    [[nodiscard]] const char* wrong_with_target(const RpcFrame& frame) const;
    // Likewise for any question; empty when it may be asked.
    [[nodiscard]] const char* wrong_with_question(const RpcFrame& frame) const;
    RpcVerdict refuse(const char* cause);
    Open* find(std::uint32_t question);
    [[nodiscard]] const Open* find(std::uint32_t question) const;
    void forget_if_over(const Open& open);

    RpcRules rules_;
    std::vector<Open> open_;         // few: searched from the front
    std::size_t words_ = 0;          // of those
    std::size_t bootstraps_ = 0;     // ever
    std::set<std::uint32_t> asked_;  // questions of this side that have no answer
    const char* cause_ = "";
};

}  // namespace mortise::transport
