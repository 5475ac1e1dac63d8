#include "tests/explore/words.hpp"

#include <variant>

#include "core/base/overloaded.hpp"

namespace mortise::explore {

namespace {

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

template <class Kind>
std::string in_words(core::Id<Kind> id) {
    return number(id.raw());
}

std::string in_words(const core::LogId& id) {
    return in_words(id.term) + "." + in_words(id.index);
}

std::string in_words(const core::AppendRequest& append) {
    std::string text = "append after " + in_words(append.previous);
    for (const auto& entry : append.entries)
        text += " entry " + in_words(entry.id);
    return text + " commit " + in_words(append.commit);
}

std::string in_words(const core::AppendReply& reply) {
    if (reply.rejected) return "append rejected, may match at " + in_words(reply.hint);
    return "append accepted, match " + in_words(reply.match);
}

template <class Reply>
std::string answer(const Reply& reply) {
    return reply.granted ? "granted" : reply.if_all ? "granted if all agree" : "refused";
}

std::string in_words(const core::RaftMessage& message) {
    return std::visit(
        core::Overloaded{
            [](const core::PreVoteRequest& m) { return "pre-vote? last " + in_words(m.last); },
            [](const core::PreVoteReply& m) { return "pre-vote " + answer(m); },
            [](const core::VoteRequest& m) { return "vote? last " + in_words(m.last); },
            [](const core::VoteReply& m) { return "vote " + answer(m); },
            [](const core::AppendRequest& m) { return in_words(m); },
            [](const core::AppendReply& m) { return in_words(m); },
            [](const core::TimeoutNow& m) { return "campaign now, at " + in_words(m.last); },
            [](const core::ReadRequest&) { return std::string{"read?"}; },
            [](const core::ReadReply& m) { return "read at " + in_words(m.index); },
            [](const core::SnapshotChunk& m) {
                return "chunk " + number(m.position) + " of the state at " + in_words(m.last);
            },
            [](const core::SnapshotReply& m) {
                return "wants chunk " + number(m.next) + " of the state at " + in_words(m.last);
            },
            [](const core::NotAMember& m) {
                return "no member any more, says " + in_words(m.configuration);
            },
        },
        message);
}

}  // namespace

std::string in_words(const Packet& packet) {
    return in_words(packet.from) + " -> " + in_words(packet.to) + ": term " +
           in_words(core::term_of(packet.message)) + " " + in_words(packet.message);
}

std::string in_words(core::NodeId node, Event event) {
    const auto who = in_words(node) + ": ";
    switch (event.act) {
        case Act::deliver: return who + "receives";
        case Act::write_done: return who + "its oldest write is done";
        case Act::time_out: return who + "times out";
        case Act::heartbeat: return who + "heartbeat";
        case Act::propose: return who + "proposes";
        case Act::read: return who + "asks for a read";
        case Act::transfer: return who + "hands over to " + number(event.argument);
        case Act::crash:
            return who + "crashes and restarts; " + number(event.argument) + " writes got to disk";
        case Act::sync: return who + "syncs";
        case Act::lose_power:
            return who + "loses power and restarts; " + number(event.argument) +
                   " unsynced entries are left";
        case Act::meet: return who + "hears the hello of " + number(event.argument >> 8U);
        case Act::recover: return who + "asks what is committed";
    }
    return who;
}

}  // namespace mortise::explore
