#include "tests/conversations/transcript.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "core/base/overloaded.hpp"
#include "tests/conversations/plain_words.hpp"

namespace mortise::conversations {

using core::Note;
using core::Overloaded;

namespace {

std::string node_name(NodeId node) {
    return "node " + number(node);
}

// "node 2", "nodes 2, 3"
std::string names_of(const std::vector<NodeId>& nodes) {
    std::string text = nodes.size() == 1 ? "node " : "nodes ";
    for (const auto node : nodes)
        text += (node == nodes.front() ? "" : ", ") + number(node);
    return text;
}

struct EventWords {
    std::string from;
    std::string text;
    bool is_worth_it = true;  // shown although it has no effect
};

EventWords event_words(const core::Event& event) {
    return std::visit(
        Overloaded{
            [](const core::TimerFired& /*e*/) -> EventWords {
                return {"timer", "is due", false};
            },
            [](const core::PeerUp& e) -> EventWords {
                return {node_name(e.hello.node), "hello, on a new connection", false};
            },
            [](const core::PeerDown& e) -> EventWords {
                return {node_name(e.peer), "the connection is closed"};
            },
            [](const core::Received& e) -> EventWords {
                return {node_name(e.from), in_words(e.message).kind, false};
            },
            [](const core::WriteDone& e) -> EventWords {
                return {"disk", "write " + number(e.id) + " is done", false};
            },
            [](const core::StateDurable& e) -> EventWords {
                return {"disk", "has the state as of entry " + number(e.index), false};
            },
            [](const core::Calls& e) -> EventWords {
                return {"program", in_words(e.calls.front())};
            },
            [](const core::SnapshotRows& e) -> EventWords {
                return {"disk", std::to_string(e.rows.size()) + " rows of the state as of entry " +
                                    number(e.last.index)};
            },
            [](const core::StateInstalled& e) -> EventWords {
                return {"disk", "the new state is in force, as of entry " + number(e.last.index)};
            },
            [](const auto& /*e*/) -> EventWords {
                return {"disk", "goes on", false};
            }},
        event);
}

bool is_for_picture(Note::Kind kind) {
    return kind == Note::Kind::became_leader || kind == Note::Kind::became_candidate ||
           kind == Note::Kind::became_pre_candidate || kind == Note::Kind::lost_quorum ||
           kind == Note::Kind::state_installed;
}

std::string why(core::HoldLost::Reason reason) {
    switch (reason) {
        case core::HoldLost::Reason::expired: return "its lease has ended";
        case core::HoldLost::Reason::node_stopped: return "the node has stopped";
        case core::HoldLost::Reason::broken: return "it was broken";
        case core::HoldLost::Reason::over: return "its longest time is over";
    }
    return {};
}

}  // namespace

void Transcript::begin(Nanoseconds at) {
    is_on_ = true;
    begin_ = at;
}

void Transcript::remark(Nanoseconds at, const std::string& text) {
    lines_.push_back({time(at), {}, text});
}

// The news is updated even while nothing is written down.
void Transcript::watch(const Step& step) {
    node_ = node_name(step.node);
    is_shown_ = false;
    write_event(step);
    write_notes(step);
    write_write(step);
    write_messages(step);
    write_applied(step);
    write_program(step);
    write_state(step);
    if (is_on_ && is_shown_) {
        step_.front().time = time(step.at);
        std::ranges::move(step_, std::back_inserter(lines_));
        std::ranges::move(step_arrows_, std::back_inserter(arrows_));
    }
    step_.clear();
    step_arrows_.clear();
}

void Transcript::write_event(const Step& step) {
    const auto words = event_words(step.event);
    add(" <- " + words.from, words.text);
    is_shown_ = words.is_worth_it;
    if (words.from == "program") draw("program of " + node_, node_, words.text);
}

// Notes come first, since they explain the rest.
void Transcript::write_notes(const Step& step) {
    for (const auto& note : news_.news_of(step.node, step.effects.notes)) {
        auto text = in_words(note);
        if (note.kind == Note::Kind::configuration_changed)
            text = "is in the configuration of entry " +
                   number(step.core.raft().configuration_id().index) + " now";
        add({}, text);
        if (is_for_picture(note.kind)) draw(node_, {}, text);
    }
}

void Transcript::write_write(const Step& step) {
    const auto& write = step.effects.write;
    if (!write || !news_.is_news(*write)) return;
    const auto what = in_words(*write, [this](const core::Entry& entry) { return tell(entry); });
    add(" -> disk", "write " + number(write->id) + ": " + what);
}

std::string Transcript::tell(const core::Entry& entry) {
    auto name = name_of(entry);
    if (!news_.is_first_word_about(entry.id)) return name;
    return name + " (" + content_of(entry) + ")";
}

bool Transcript::is_drawn(const core::PeerMessage& message) const {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    if (raft == nullptr || draws_acknowledgements_) return true;
    if (const auto* append = std::get_if<core::AppendRequest>(raft))
        return !append->entries.empty();
    const auto* reply = std::get_if<core::AppendReply>(raft);
    return reply == nullptr || reply->rejected || !reply->run_out.empty();
}

// Writes one line for all receivers of the same message.
void Transcript::write_messages(const Step& step) {
    struct Said {
        MessageWords words;
        std::vector<NodeId> to;
    };
    std::vector<Said> all;
    for (const auto& envelope : step.effects.send) {
        if (!news_.is_news(step.node, envelope.to, envelope.message)) continue;
        auto words = in_words(envelope.message);
        if (is_drawn(envelope.message))
            draw(node_, node_name(envelope.to),
                 words.kind + (words.brief.empty() ? "" : ": " + words.brief));
        const auto same = std::ranges::find_if(all, [&](const Said& each) {
            return each.words.kind == words.kind && each.words.details == words.details;
        });
        if (same == all.end()) {
            all.push_back({std::move(words), {envelope.to}});
        } else {
            same->to.push_back(envelope.to);
        }
    }
    for (const auto& [words, to] : all)
        add(" -> " + names_of(to), words.kind + ": " + words.details);
}

// The outcomes of an entry are described once; after that only its number is written, with others
// in one line.
void Transcript::write_applied(const Step& step) {
    std::string known;
    for (const auto& [entry, outcomes] : step.effects.applied) {
        if (outcomes.empty() || !news_.is_news(entry)) continue;
        const auto index = number(entry.id.index);
        if (!news_.is_first_outcome_of(entry.id)) {
            known += (known.empty() ? "" : ", ") + index;
            continue;
        }
        auto text = "applies entry " + index;
        for (const auto& outcome : outcomes)
            text += (outcome == outcomes.front() ? ": " : "; ") + in_words(outcome);
        add({}, text);
    }
    if (!known.empty())
        add({}, "applies " + std::string{known.find(',') == known.npos ? "entry " : "entries "} +
                    known);
}

void Transcript::write_program(const Step& step) {
    for (const auto& lost : step.effects.lost) {
        const auto text = "the hold of " + in_words(lost.hold) + " is lost: " + why(lost.reason);
        add(" -> program", text);
        draw(node_, "program of " + node_, text);
    }
    const auto& lease = step.effects.lease;
    if (lease && lease->session.is_set() && !news_.leaves_out_renewals()) {
        add({}, "trusts its lease of session " + number(lease->session) + " until " +
                    time(lease->valid_until - core::test::start));
    }
    for (const auto& answer : step.effects.answers) {
        const auto text = in_words(answer);
        add(" -> program", text);
        draw(node_, "program of " + node_, text);
    }
}

void Transcript::write_state(const Step& step) {
    const auto& effects = step.effects;
    if (effects.peers && news_.is_news(step.node, *effects.peers)) {
        std::vector<NodeId> others;
        for (const auto& peer : *effects.peers) {
            if (peer.id != step.node) others.push_back(peer.id);
        }
        if (!others.empty()) add({}, "wants to be connected with " + names_of(others));
    }
    if (effects.state_replaced)
        add({}, "takes over the state as of entry " + number(effects.state_replaced->index));
    if (effects.purge_log_to && shows_state_)
        add(" -> disk", "removes the log up to entry " + number(effects.purge_log_to->id.index));
    for (const auto& install : effects.install) {
        add(" -> disk", std::to_string(install.rows.size()) + " rows beside its own state" +
                            (install.done ? ", then the switch to them" : ""));
    }
    for (const auto& read : effects.read_snapshot)
        add(" -> disk",
            read.after ? "reads more rows" : "opens a view of the state and reads rows");
    for (const auto& delta : effects.save_state) {
        if (!shows_state_) continue;
        add(" -> disk", "state as of entry " + number(delta.applied.index) + ": " +
                            std::to_string(delta.rows.size()) + " changed rows");
    }
}

void Transcript::add(const std::string& with, const std::string& text) {
    step_.push_back({{}, node_ + with, text});
    is_shown_ = is_shown_ || step_.size() > 1;
}

void Transcript::draw(std::string from, std::string to, std::string label) {
    step_arrows_.push_back({std::move(from), std::move(to), std::move(label)});
}

std::string Transcript::time(Nanoseconds at) const {
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(at - begin_);
    char text[40];
    std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(microseconds.count()) / 1000.0);
    return text;
}

}  // namespace mortise::conversations
