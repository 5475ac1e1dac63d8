// The commands that wait at the leader to be proposed. Everything that arrives during the previous
// writes becomes the entries of the next one: there is no timer, and batches grow under load.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "core/codec/command_codec.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

class Proposer {
public:
    // Takes a forwarded batch, which must be decodable, and its number of commands. Returns false,
    // and takes nothing, if the batch is too large or if more waits than correct peers would send.
    bool add(const Bytes& batch, std::size_t commands);
    // Capacity for acquiring requests; releasing ones are always taken (S21, P11).
    [[nodiscard]] bool has_room() const;
    // The waiting commands fill an entry.
    [[nodiscard]] bool has_an_entry() const;
    // A command of the leader itself: always accepted.
    void add(const Command& command);
    // Keeps the newest renewal of each session until a batch is proposed anyway or they are due
    // (S2).
    void add_renewal(const Renewal& renewal);

    // A renewal was received and is not applied yet: its session must not be expired (S4).
    [[nodiscard]] bool has_renewal_of(SessionId session) const {
        return renewals_.contains(session);
    }
    void renewal_applied(SessionId session, std::uint64_t number);

    [[nodiscard]] bool has_commands() const {
        return !own_.chunks.empty() || !forwarded_.chunks.empty();
    }
    // How many wait, without renewals.
    [[nodiscard]] std::size_t commands() const { return own_.commands + forwarded_.commands; }
    [[nodiscard]] bool has_renewals() const { return unproposed_renewals_ != 0; }
    // The payload of the next entry; requires that commands wait. It is encoded in `format`, or in
    // a newer one if a forwarded batch in it uses that: the sender of the batch has checked that
    // all members read it.
    [[nodiscard]] Bytes take_batch(std::uint8_t format = command_format_oldest);
    // The same for renewals alone; requires that there are some.
    [[nodiscard]] Bytes take_renewals(std::uint8_t format = command_format_oldest);

    // Leadership has ended: the nodes send their requests again to the next leader.
    void clear();

private:
    struct Chunk {
        Bytes batch;
        std::size_t commands = 0;
    };
    struct Lane {
        std::deque<Chunk> chunks;
        std::size_t bytes = 0;
        std::size_t commands = 0;
    };
    struct Gathered {
        std::uint64_t number = 0;
        bool proposed = false;
    };

    [[nodiscard]] std::size_t renewals_beside_commands() const;
    [[nodiscard]] Renew gather_renewals(std::size_t count_max);
    static bool add_to(Lane& lane, Chunk chunk);
    static void take_from(Lane& lane, BatchBuilder& out);

    Lane own_;        // proposed before the others, so that the next entry contains it
    Lane forwarded_;  // in the order of its arrival
    std::map<SessionId, Gathered> renewals_;
    std::size_t unproposed_renewals_ = 0;
    bool renewals_passed_over_ = false;
};

}  // namespace mortise::core
