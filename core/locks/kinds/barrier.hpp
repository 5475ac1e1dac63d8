// Barriers (S35): which sessions take part, and which of their parties have arrived in the present
// phase; the requests for them, and their bytes. Parties that have not arrived in any phase yet
// belong to nobody. A barrier exists until it is removed (S37).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/locks/kinds/kind.hpp"

namespace mortise::core {

constexpr std::uint32_t barrier_parties_max = 1'024;  // of one barrier
// In so many barriers a session takes part, of which each may answer all its parties when the
// session ends.
constexpr std::size_t session_barriers_max = 64;

class Barrier {
public:
    static constexpr std::uint8_t row_flag = 32;
    static constexpr bool has_holders = false;

    // The parties of one session, for example of its threads.
    struct Member {
        std::uint32_t parties = 0;
        std::uint32_t arrived = 0;   // of these, in the present phase
        std::uint32_t dropping = 0;  // of those that have arrived: they leave when the phase ends

        static constexpr std::size_t bytes_min = 4;  // with its session
        static void fields(auto& of, auto& self) {
            of.number(self.parties, 0, barrier_parties_max);
            of.number(self.arrived, 0, barrier_parties_max);
            of.number(self.dropping, 0, barrier_parties_max);
        }
        [[nodiscard]] bool depends() const { return dropping < parties; }
        friend bool operator==(const Member&, const Member&) = default;
    };
    using Members = std::map<SessionId, Member>;

    // A new barrier has only the number of its parties; the rest is read from a row, and may be
    // unsound (see is_sound()).
    explicit Barrier(std::uint32_t parties = 0, std::uint64_t phase = 0, bool is_broken = false,
                     Members members = {})
        : parties_{parties}, phase_{phase}, is_broken_{is_broken}, members_{std::move(members)} {}

    // Writes the fields to a row, or reads them from one.
    static void fields(auto& of, auto& self) {
        of.number(self.parties_, 0, barrier_parties_max);
        of.any(self.phase_);
        of.flag(self.is_broken_);
        of.by_session(self.members_);
    }
    // Whether the numbers could have come about.
    [[nodiscard]] bool is_sound() const;

    [[nodiscard]] std::uint32_t parties() const { return parties_; }
    [[nodiscard]] std::uint64_t phase() const { return phase_; }
    [[nodiscard]] bool is_broken() const { return is_broken_; }
    [[nodiscard]] const Members& members() const { return members_; }
    // Whether the barrier breaks when the session ends: one of its parties has not dropped.
    [[nodiscard]] bool depends_on(SessionId session) const {
        const auto found = members_.find(session);
        return found != members_.end() && found->second.depends();
    }
    [[nodiscard]] std::uint32_t arrived() const;
    [[nodiscard]] bool is_complete() const { return arrived() == parties_; }

    // False if all parties of the session have arrived, and there are no more than these and those
    // of the others.
    [[nodiscard]] bool may_arrive(SessionId session) const;
    // It may arrive, and the barrier is not broken.
    void arrive(SessionId session, bool drops);
    // All have arrived: the next phase begins, without those that dropped.
    void begin_next();
    // From now on it is of no use, and nobody takes part.
    void break_it();

    [[nodiscard]] bool stays() const { return true; }
    // Whether it can be that these wait: they are the parties of their sessions that have arrived
    // and have not dropped.
    [[nodiscard]] bool fits(WaitingParties waiting) const;

    // A session that takes part: so many of the parties are its own.
    struct MemberView {
        SessionId session;
        NodeId node;  // not set: the session has ended, and all its parties drop
        std::uint32_t parties = 0;
        std::uint32_t arrived = 0;  // of these, in the present phase
        friend bool operator==(const MemberView&, const MemberView&) = default;
    };
    struct View {
        std::uint32_t parties = 0;
        std::uint32_t arrived = 0;  // in the present phase
        std::uint64_t phase = 0;    // how many phases have ended
        bool is_broken = false;
        std::vector<MemberView> members{};  // by session
        friend bool operator==(const View&, const View&) = default;
    };
    [[nodiscard]] View view(const Onlooker& to) const;

private:
    [[nodiscard]] bool is_new_party(SessionId session) const;
    [[nodiscard]] std::uint32_t taken() const;

    std::uint32_t parties_;
    std::uint64_t phase_;
    bool is_broken_;
    Members members_;
};

// A party arrives at a barrier, and waits until all have arrived in the present phase. Then all are
// answered `passed`, and the next phase begins. While it waits it is an operation that holds
// nothing. From its first arrival on the session takes part with as many parties as have ever
// arrived in one phase, until these have dropped; the barrier breaks when the session ends before
// that.
struct Arrive {
    using State = Barrier;
    static constexpr std::uint8_t log_number = 27;

    std::string name;
    std::uint32_t parties = 0;  // of a barrier that this creates
    // The party leaves the barrier when the phase ends, and is answered at once.
    bool drops = false;
    std::string label{};  // shown to readers of the table

    static void fields(auto& of, auto& self) {
        of.name(self.name);
        of.number(self.parties, 1, barrier_parties_max);
        of.flag(self.drops);
        of.label(self.label);
    }
    [[nodiscard]] bool waits() const { return !drops; }
    [[nodiscard]] Barrier made() const { return Barrier{parties}; }
    [[nodiscard]] std::optional<AnswerKind> refusal(const Barrier& barrier, SessionId by) const;
    [[nodiscard]] KindStep apply(Barrier& barrier, SessionId by) const;
    [[nodiscard]] std::string words(Quote quote) const;
    friend bool operator==(const Arrive&, const Arrive&) = default;
};

// The session gave up that arrival, which may have passed by now: the barrier breaks, if the
// session still takes part in it.
struct Quit {
    static constexpr std::uint8_t log_number = 28;

    Seq operation;
    std::string name;

    static void fields(auto& of, auto& self) {
        of.operation(self.operation);
        of.name(self.name);
    }
    [[nodiscard]] std::string words(Quote quote) const;
    friend bool operator==(const Quit&, const Quit&) = default;
};

}  // namespace mortise::core
