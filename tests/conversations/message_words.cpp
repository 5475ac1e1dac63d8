#include "tests/conversations/message_words.hpp"

#include "core/base/overloaded.hpp"
#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "tests/conversations/plain_words.hpp"

namespace mortise::conversations {

using core::Overloaded;

namespace {

std::string entry_name(core::LogId id) {
    if (!id.index.is_set()) return "nothing";
    return "entry " + number(id.index) + " of term " + number(id.term);
}

std::string commands_in(const core::Bytes& batch) {
    std::string text;
    const auto commands = core::decode_batch(batch);
    if (!commands) return "no commands";
    for (const auto& command : *commands)
        text += (text.empty() ? "" : "; ") + in_words(command);
    return text;
}

std::string entries(const std::vector<core::Entry>& list) {
    if (list.size() == 1) return "entry " + number(list.front().id.index);
    return "entries " + number(list.front().id.index) + " to " + number(list.back().id.index);
}

std::string answer(bool granted) {
    return granted ? "yes" : "no";
}

MessageWords words(const core::AppendRequest& append) {
    MessageWords words{"AppendRequest", {}, {}};
    const auto committed = "committed up to " + number(append.commit);
    if (append.entries.empty()) {
        words.brief = committed;
        words.details = "no entries after " + entry_name(append.previous) + "; " + committed;
        return words;
    }
    words.brief = entries(append.entries);
    words.details =
        words.brief + (append.previous.index.is_set() ? " after " + entry_name(append.previous)
                                                      : std::string{", from the beginning"});
    words.details += "; " + committed;
    if (append.entries.size() == 1) words.brief += ": " + content_of(append.entries.front());
    return words;
}

MessageWords words(const core::AppendReply& reply) {
    MessageWords words{"AppendReply", {}, {}};
    if (reply.rejected) {
        words.brief = "no, not the same at entry " + number(reply.previous);
        words.details = words.brief;
        if (reply.hint.index.is_set())
            words.details += "; the logs may be the same up to " + entry_name(reply.hint);
    } else {
        words.brief = "has " + number(reply.match);
        words.details = "has everything up to entry " + number(reply.match) + " on disk";
    }
    for (const auto& one : reply.run_out) {
        words.brief += ", session " + number(one.session) + " elapsed";
        words.details += "; the countdown of session " + number(one.session) + " has elapsed here";
    }
    return words;
}

MessageWords words(const core::SnapshotChunk& chunk) {
    auto brief = "chunk " + std::to_string(chunk.position);
    if (chunk.done) brief += ", the last one";
    return {"SnapshotChunk",
            brief + " of the state at " + entry_name(chunk.last) + ": " +
                std::to_string(chunk.rows.size()) + " rows",
            brief};
}

MessageWords words(const core::SnapshotReply& reply) {
    const auto state = " the state at " + entry_name(reply.last);
    if (reply.installed) return {"SnapshotReply", "has installed" + state, "installed"};
    if (reply.refused) return {"SnapshotReply", "cannot use" + state, "refused"};
    const auto brief = "wants chunk " + std::to_string(reply.next);
    return {"SnapshotReply", brief + " of" + state, brief};
}

MessageWords words(const core::Forward& forward) {
    MessageWords words{"Forward", {}, {}};
    if (!forward.batch.empty()) words.details = commands_in(forward.batch);
    if (forward.renewal) {
        words.details += words.details.empty() ? "" : "; ";
        words.details += "renew session " + number(forward.renewal->session) + " (its renewal " +
                         std::to_string(forward.renewal->number) + ")";
    }
    words.brief = words.details;
    return words;
}

MessageWords words(const core::MembershipReply& reply) {
    using State = core::MembershipReply::State;
    switch (reply.state) {
        case State::looked:
            return {"MembershipReply",
                    "the configuration is that of entry " + number(reply.configuration) +
                        ", and the term is " + number(reply.term),
                    "look: entry " + number(reply.configuration)};
        case State::begun: return {"MembershipReply", "it has begun", "begun"};
        case State::not_yet: return {"MembershipReply", "not yet, ask again", "not yet"};
        case State::refused: return {"MembershipReply", "refused", "refused"};
        case State::done: return {"MembershipReply", "it is done", "done"};
    }
    return {};
}

MessageWords words(const core::MembershipRequest& request) {
    auto text = in_words(request.goal);
    if (request.begun) {
        text += "; it has begun: is it done?";
    } else if (request.configuration.is_set()) {
        text += ", if the configuration is still that of entry " + number(request.configuration);
    } else {
        text += "; what is the configuration?";
    }
    return {"MembershipRequest", text, in_words(request.goal)};
}

MessageWords words(const core::RaftMessage& message) {
    return std::visit(
        Overloaded{
            [](const core::PreVoteRequest& m) -> MessageWords {
                return {"PreVoteRequest",
                        "would you vote for me after term " + number(m.term) +
                            "? My log ends with " + entry_name(m.last),
                        "after term " + number(m.term) + "?"};
            },
            [](const core::PreVoteReply& m) -> MessageWords {
                return {"PreVoteReply", answer(m.granted), answer(m.granted)};
            },
            [](const core::VoteRequest& m) -> MessageWords {
                return {"VoteRequest",
                        "vote for me in term " + number(m.term) + "; my log ends with " +
                            entry_name(m.last),
                        "term " + number(m.term)};
            },
            [](const core::VoteReply& m) -> MessageWords {
                return {"VoteReply", answer(m.granted) + ", in term " + number(m.term),
                        answer(m.granted)};
            },
            [](const core::TimeoutNow& m) -> MessageWords {
                return {"TimeoutNow", "campaign now, with " + entry_name(m.last), {}};
            },
            [](const core::ReadRequest& m) -> MessageWords {
                return {"ReadRequest", "which index is safe to read at? " + number(m.id), {}};
            },
            [](const core::ReadReply& m) -> MessageWords {
                return {"ReadReply", "read at entry " + number(m.index), {}};
            },
            [](const core::NotAMember& m) -> MessageWords {
                return {"NotAMember", "since " + entry_name(m.configuration), {}};
            },
            [](const auto& m) { return words(m); }},
        message);
}

}  // namespace

std::string name_of(const core::Entry& entry) {
    return entry_name(entry.id);
}

std::string content_of(const core::Entry& entry) {
    switch (entry.kind) {
        case core::EntryKind::noop: return "empty, the first one of a new leader";
        case core::EntryKind::state_sum: return "a checksum of the state";
        case core::EntryKind::commands:
        case core::EntryKind::sealed_commands: return commands_in(entry.payload);
        case core::EntryKind::era: return "the beginning of an era";
        case core::EntryKind::configuration:
            if (const auto configuration = core::decode_configuration(entry.payload))
                return "configuration: " + in_words(*configuration);
    }
    return "unreadable";
}

MessageWords in_words(const core::PeerMessage& message) {
    return std::visit(
        Overloaded{[](const core::FormationOffer& /*m*/) -> MessageWords {
                       return {"FormationOffer", "the first entry of our cluster", {}};
                   },
                   [](const core::FormationQuestion& /*m*/) -> MessageWords {
                       return {"FormationQuestion", "are you still empty?", {}};
                   },
                   [](const core::FormationAnswer& /*m*/) -> MessageWords {
                       return {"FormationAnswer", "yes, and I join your cluster", {}};
                   },
                   [](const core::Superseded& /*m*/) -> MessageWords {
                       return {"Superseded", "your directory is outdated", {}};
                   },
                   [](const core::StreamGap& m) -> MessageWords {
                       return {"StreamGap",
                               "go on with request " + number(m.next) + " of session " +
                                   number(m.session),
                               {}};
                   },
                   [](const auto& m) { return words(m); }},
        message);
}

std::string in_words(const core::Write& write, const TellEntry& tell) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    if (write.reset) add("the log begins behind " + entry_name(write.reset->id));
    if (write.hard_state) {
        const auto& vote = write.hard_state->voted_for;
        add("term " + number(write.hard_state->term) +
            (vote.is_set() ? ", vote for node " + number(vote) : ", no vote"));
    }
    if (write.truncate_from)
        add("removes entry " + number(*write.truncate_from) + " and all behind");
    for (const auto& entry : write.append)
        add(tell(entry));
    return text;
}

}  // namespace mortise::conversations
