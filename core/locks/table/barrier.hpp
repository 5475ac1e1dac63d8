// The phases of a barrier (S35): how many parties it has, which sessions take part, and which of
// their parties have arrived in the present phase. Those that have not arrived in any phase yet
// belong to nobody.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "core/base/ids.hpp"

namespace mortise::core {

class Barrier {
public:
    // The parties of one session, for example of its threads.
    struct Member {
        std::uint32_t parties = 0;
        std::uint32_t arrived = 0;   // of these, in the present phase
        std::uint32_t dropping = 0;  // of those that have arrived: they leave when the phase ends

        [[nodiscard]] bool depends() const { return dropping < parties; }
        friend bool operator==(const Member&, const Member&) = default;
    };
    using Members = std::map<SessionId, Member>;

    explicit Barrier(std::uint32_t parties) : parties_{parties} {}
    // For loading; see is_sound().
    Barrier(std::uint32_t parties, std::uint64_t phase, bool is_broken, Members members)
        : parties_{parties}, phase_{phase}, is_broken_{is_broken}, members_{std::move(members)} {}

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

    // False, without an effect, if all parties of the session have arrived and there are no more
    // than these and those of the others. It must not be broken.
    [[nodiscard]] bool arrive(SessionId session, bool drops);
    // All have arrived: the next phase begins, without those that dropped.
    void begin_next();
    // From now on it is of no use, and nobody takes part.
    void break_it();

    // Whether the numbers could have come about.
    [[nodiscard]] bool is_sound() const;

private:
    [[nodiscard]] std::uint32_t taken() const;

    std::uint32_t parties_;
    std::uint64_t phase_ = 0;
    bool is_broken_ = false;
    Members members_;
};

}  // namespace mortise::core
