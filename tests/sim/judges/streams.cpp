#include "tests/sim/judges/streams.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/base/formats.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

// --- requests that nodes send -------------------------------------------------------------------

// Without a session if there are no requests.
Streams::Run Streams::run_in(core::NodeId from, const core::Forward& forward) {
    Run run;
    if (forward.batch.empty()) return run;
    const auto batch = commands_in(forward.batch);
    if (!batch) {
        report(from, "a message that does not decode");
        return run;
    }
    for (const auto& command : *batch) {
        const auto* request = std::get_if<core::Request>(&command);
        if (request == nullptr) continue;
        const core::OperationId operation{request->session, request->seq};
        const bool is_first = !run.session.is_set();
        const bool follows = operation == core::OperationId{run.session, run.last.next()};
        if (!is_first && !follows)
            report(from, in_words(operation) + " does not follow in its message");
        if (is_first) run.first = request->seq;
        run.session = request->session;
        run.last = request->seq;
        if (std::holds_alternative<core::Declined>(request->body)) run.withdrawn.insert(run.last);
        run.closes = std::holds_alternative<core::CloseSession>(request->body);
    }
    return run;
}

void Streams::sent(core::NodeId from, core::NodeId to, const core::Forward& forward,
                   const core::SessionTable& sessions) {
    const auto run = run_in(from, forward);
    if (!run.session.is_set()) return;
    const auto* session = sessions.find(run.session);
    // A client may change the member by which it sends, so no member sees all of its stream.
    if (session != nullptr && !session->opened.node.is_set()) return;
    const auto applied = session == nullptr ? core::Seq{} : session->applied;
    check_order(from, to, run, applied);
    auto& sender = senders_[from];
    if (sender.session != run.session) sender.trails.clear();
    sender.session = run.session;
    sender.next = run.last.next();
    sender.leader = to;
    sender.reconnected = false;
    follow(sender, to, run, applied);
}

void Streams::check_order(core::NodeId from, core::NodeId to, const Run& run, core::Seq applied) {
    const auto& sender = senders_[from];
    const bool goes_on =
        to == sender.leader && !sender.reconnected && run.session == sender.session;
    const auto next = goes_on ? std::max(sender.next, applied.next()) : applied.next();
    if (run.first <= next) return;
    const auto first = in_words(core::OperationId{run.session, run.first});
    report(from, first + (goes_on ? " leaves out one before it"
                                  : " is sent first, and one before it is not applied"));
}

void Streams::follow(Sender& sender, core::NodeId to, const Run& run, core::Seq applied) {
    auto& trails = sender.trails;
    trails.erase(trails.begin(), trails.upper_bound(applied));
    // With it, even the part of the window that calls cannot use is occupied.
    const bool fills = run.last.raw() - applied.raw() >= 2 * window_;
    if (run.closes && fills && !trails.contains(run.last))
        tally_.probe("session ended with a full window");
    bool to_a_third = false;
    bool after_install = false;
    for (auto seq = run.first; seq <= run.last; seq = seq.next()) {
        const auto [place, is_new] = trails.try_emplace(seq, Trail{to});
        auto& trail = place->second;
        trail.withdrawn = run.withdrawn.contains(seq);
        if (is_new) continue;
        if (std::exchange(trail.installed, false)) after_install = true;
        if (trail.leader == to) continue;
        trail.leader = to;
        if (++trail.changes == 2) to_a_third = true;
    }
    if (to_a_third) tally_.probe("stream sent again to a third leader");
    if (after_install) tally_.probe("stream sent again after a state was installed");
}

void Streams::connected(core::NodeId node, core::NodeId peer) {
    auto& sender = senders_[node];
    if (sender.leader == peer) sender.reconnected = true;
}

void Streams::state_replaced(core::NodeId node) {
    for (auto& [seq, trail] : senders_[node].trails)
        trail.installed = true;
}

// --- requests that are applied ------------------------------------------------------------------

void Streams::applied(const core::Applied& applied) {
    const bool is_new = applied.entry.id.index > last_;
    const bool begins_era = applied.entry.kind == core::EntryKind::era;
    if (!is_new || !(begins_era || core::has_commands(applied.entry.kind))) return;
    last_ = applied.entry.id.index;
    const auto batch =
        begins_era ? std::vector<core::Command>{} : commands_in(applied.entry.payload);
    if (!batch) return;  // the judge of locks reports that
    entry_ = {};
    for (const auto& command : *batch) {
        if (const auto* request = std::get_if<core::Request>(&command)) read(*request);
    }
    for (const auto& outcome : applied.outcomes)
        on(outcome);
    check_entry();
}

void Streams::read(const core::Request& request) {
    auto& stream = streams_[request.session];
    if (stream.ended || request.seq <= stream.read) return;
    if (request.seq != stream.read.next()) {
        entry_.ahead.insert({request.session, request.seq});
        return;
    }
    stream.read = request.seq;
    entry_.sessions.insert(request.session);
    if (std::holds_alternative<core::CloseSession>(request.body)) stream.closes = true;
    if (was_declined(request)) entry_.declined.emplace(request.session, request.seq);
    if (std::holds_alternative<core::Release>(request.body))
        entry_.releases.insert({request.session, request.seq});
}

bool Streams::was_declined(const core::Request& request) const {
    if (!std::holds_alternative<core::Declined>(request.body)) return false;
    for (const auto& [node, sender] : senders_) {
        const auto trail = sender.trails.find(request.seq);
        const bool is_its = sender.session == request.session && trail != sender.trails.end();
        if (is_its) return !trail->second.withdrawn;
    }
    return false;
}

void Streams::on(const core::Outcome& outcome) {
    if (const auto* queued = std::get_if<core::Queued>(&outcome)) {
        const auto& operation = queued->operation;
        on_begun(operation);
        if (streams_[operation.session].answers.contains(operation.seq))
            report({}, in_words(operation) + " waits though it was answered");
    }
    if (const auto* answered = std::get_if<core::Answered>(&outcome)) {
        on_begun(answered->operation);
        on_answered(answered->operation, answered->answer);
    }
    if (const auto* ended = std::get_if<core::SessionEnded>(&outcome)) on_ended(*ended);
}

void Streams::on_begun(core::OperationId operation) {
    auto& stream = streams_[operation.session];
    if (stream.ended) return report({}, in_words(operation) + " goes on behind its session's end");
    if (operation.seq <= stream.begun) return;
    if (operation.seq > stream.read)
        return report({}, in_words(operation) + " took effect though it was not its turn");
    if (operation.seq != stream.begun.next())
        report({}, in_words(operation) + " took effect before one in front of it");
    stream.begun = operation.seq;
}

void Streams::on_answered(core::OperationId operation, const core::Answer& answer) {
    auto& answers = streams_[operation.session].answers;
    if (answer.kind == core::AnswerKind::stale_request) {
        if (!answers.contains(operation.seq))
            report({}, in_words(operation) + " was never answered, and its answer is forgotten");
        return;
    }
    const auto [known, is_new] = answers.emplace(operation.seq, answer);
    if (is_new) return probe_release(operation, answer.kind);
    if (known->second != answer) report({}, in_words(operation) + " took effect twice");
}

void Streams::probe_release(core::OperationId operation, core::AnswerKind kind) {
    const bool ends = kind == core::AnswerKind::released || kind == core::AnswerKind::lost;
    const auto declined = entry_.declined.find(operation.session);
    if (!ends || !entry_.releases.contains(operation) || declined == entry_.declined.end()) return;
    if (declined->second < operation.seq)
        tally_.probe("declined under overload with releases behind it");
}

void Streams::on_ended(const core::SessionEnded& ended) {
    auto& stream = streams_[ended.session];
    if (ended.how == core::SessionEnd::closed && !stream.closes)
        report({}, "session " + in_words(ended.session) + " is closed, which was not its turn");
    stream = {};
    stream.ended = true;
}

void Streams::check_entry() {
    for (const auto session : entry_.sessions) {
        const auto& stream = streams_[session];
        if (stream.ended || stream.begun == stream.read) continue;
        report({}, in_words(core::OperationId{session, stream.begun.next()}) + " had no effect");
    }
    for (const auto operation : entry_.ahead)
        report({}, in_words(operation) + " is in the log ahead of its turn");
}

}  // namespace mortise::sim
