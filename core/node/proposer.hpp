// The commands that wait at the leader to be proposed. Everything that arrives during the previous
// writes becomes the entries of the next one: there is no timer, and batches grow under load. Under
// more load than that every session has its turn (docs/decisions/0071).
#pragma once

#include <map>
#include <utility>

#include "core/codec/command_codec.hpp"
#include "core/locks/table/session_table.hpp"
#include "core/node/fair_queue.hpp"
#include "core/node/sealing.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

class Proposer {
public:
    // Whether a forwarded batch of that size is taken, whose turn is that of the session. False if
    // it is too large, or if more waits than a correct node would send.
    [[nodiscard]] bool takes(SessionId turn, std::size_t bytes) const;
    // It must be decodable. Patient ones alone make no entry (PatientRequests).
    void add(FairQueue::Batch batch, bool is_patient = false) {
        forwarded_.add(std::move(batch));
        if (!is_patient) hurry();
    }
    // From now on what waits is worth an entry, until nothing waits.
    void hurry() { is_urgent_ = true; }
    [[nodiscard]] bool is_urgent() const { return is_urgent_; }
    // Capacity for acquiring requests of that session; releasing ones are taken (S21, P11).
    [[nodiscard]] bool has_room(SessionId turn) const;
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

    [[nodiscard]] bool has_commands() const { return !own_.empty() || !forwarded_.empty(); }
    // How many wait, without renewals. A request counts once for each of its names.
    [[nodiscard]] std::size_t commands() const { return own_.names() + forwarded_.names(); }
    [[nodiscard]] bool has_renewals() const { return unproposed_renewals_ != 0; }
    // The time of the cluster in milliseconds, zero if none is to be said: the next entry says it
    // in front of its commands, at most once a second.
    void set_time(std::uint64_t ms) { time_ms_ = ms; }
    // Says how the next entries are sealed. An entry that raises the ceiling does so in front of
    // its commands.
    void set_sealing(const Sealing& sealing) { sealing_ = sealing; }
    // The ceiling of the newest entry that raises it.
    [[nodiscard]] FencingToken raised_to() const { return raised_to_; }
    struct Batch {
        EntryKind kind = EntryKind::commands;
        Bytes payload;
    };
    // The next entry, encoded in `format`; requires that commands wait. A forwarded batch in a
    // newer format loses its origins, and requests that `format` does not have are declined
    // (in_format_1).
    [[nodiscard]] Batch take_batch(std::uint8_t format = command_format_oldest);
    // The same for renewals alone; requires that there are some.
    [[nodiscard]] Batch take_renewals(std::uint8_t format = command_format_oldest);

    // Leadership has ended: the nodes send their requests again to the next leader.
    void clear();

private:
    struct Gathered {
        std::uint64_t number = 0;
        bool proposed = false;
    };

    [[nodiscard]] std::size_t renewals_beside_commands() const;
    [[nodiscard]] Renew gather_renewals(std::size_t count_max);
    [[nodiscard]] bool has_room(SessionId turn, std::size_t more, std::size_t max) const;
    void say_time(std::uint8_t format, std::size_t bytes, BatchBuilder& out);
    void raise_ceiling(std::uint8_t format, std::size_t bytes, BatchBuilder& out);
    [[nodiscard]] Batch taken(BatchBuilder& out, std::uint8_t format) const;
    static void take_from(FairQueue& queue, std::uint8_t format, BatchBuilder& out);

    FairQueue own_;  // proposed before the others, so that the next entry contains it
    FairQueue forwarded_;
    bool is_urgent_ = false;
    std::map<SessionId, Gathered> renewals_;
    std::size_t unproposed_renewals_ = 0;
    bool renewals_passed_over_ = false;
    std::uint64_t time_ms_ = 0;
    std::uint64_t said_ms_ = 0;  // what an entry of this leader has said
    Sealing sealing_;
    FencingToken raised_to_;
};

}  // namespace mortise::core
