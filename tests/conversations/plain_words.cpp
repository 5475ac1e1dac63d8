#include "tests/conversations/plain_words.hpp"

#include <string_view>
#include <vector>

#include "core/base/overloaded.hpp"
#include "tests/sim/base/note_words.hpp"
#include "tests/spec/words.hpp"

namespace mortise::conversations {

using core::Overloaded;

namespace {

std::string quoted(const std::string& name) {
    return '"' + name + '"';
}

std::string words(core::LockMode mode) {
    switch (mode) {
        case core::LockMode::shared: return "shared";
        case core::LockMode::update: return "update";
        case core::LockMode::exclusive: return "exclusive";
        default: return "in mode " + spec::words(mode);
    }
}

std::string words(const core::Acquire& acquire) {
    const std::string verb = acquire.wait ? "acquire " : "try to acquire ";
    const auto& [name, mode] = acquire.names.front();
    return verb + quoted(name) + " " + words(mode);
}

// Empty for what tests/spec/words.hpp has to say.
std::string words(const core::RequestBody& body) {
    if (const auto* acquire = std::get_if<core::Acquire>(&body)) return words(*acquire);
    if (const auto* release = std::get_if<core::Release>(&body))
        return "release what request " + number(release->operation) + " got";
    if (const auto* cancel = std::get_if<core::Cancel>(&body))
        return "cancel request " + number(cancel->operation);
    if (std::holds_alternative<core::CloseSession>(body)) return "close the session";
    return {};
}

std::string words(const core::Renew& renew) {
    std::string text;
    for (const auto& one : renew.renewals) {
        text += text.empty() ? "renew session " : ", session ";
        text += number(one.session) + " (its renewal " + std::to_string(one.number) + ")";
    }
    return text;
}

std::string words(const core::Previous& previous) {
    switch (previous.how) {
        case core::Predecessor::none: return {};
        case core::Predecessor::clean:
            return "; token " + number(previous.token) + " was released before";
        case core::Predecessor::expired:
            return "; token " + number(previous.token) + " was lost with its session before";
        case core::Predecessor::broken:
            return "; token " + number(previous.token) + " was broken before";
    }
    return {};
}

std::string words(core::SessionEnd how) {
    switch (how) {
        case core::SessionEnd::closed: return "was closed";
        case core::SessionEnd::expired: return "has expired";
        case core::SessionEnd::former_life: return "is that of a former process";
    }
    return {};
}

std::string words(const core::Answered& answered) {
    const auto who = in_words(answered.operation) + " ";
    const auto& answer = answered.answer;
    if (answer.kind == core::AnswerKind::granted && answer.names.empty())
        return who + "is granted, token " + number(answer.token) + words(answer.previous);
    if (answer.kind == core::AnswerKind::released) return who + "has released its lock";
    return spec::words(answered);
}

std::string list(const std::vector<core::Member>& members) {
    std::string text;
    for (const auto& member : members)
        text += (text.empty() ? "" : ", ") + number(member.id);
    return text;
}

}  // namespace

std::string in_words(core::OperationId operation) {
    return "session " + number(operation.session) + ", request " + number(operation.seq);
}

std::string in_words(const core::Command& command) {
    if (const auto* open = std::get_if<core::OpenSession>(&command)) {
        return "open a session for node " + number(open->node) + " with a TTL of " +
               std::to_string(open->ttl_ms) + " ms";
    }
    if (const auto* renew = std::get_if<core::Renew>(&command)) return words(*renew);
    if (const auto* expire = std::get_if<core::Expire>(&command)) {
        return "expire session " + number(expire->session) + " if entry " +
               number(expire->renewed_at) + " is still its newest renewal";
    }
    if (const auto* acknowledge = std::get_if<core::Acknowledge>(&command)) {
        return "session " + number(acknowledge->session) + " has its answers up to entry " +
               number(acknowledge->received);
    }
    if (std::holds_alternative<core::Sweep>(command)) return "sweep up after ended sessions";
    if (const auto* request = std::get_if<core::Request>(&command)) {
        const auto body = words(request->body);
        if (!body.empty())
            return in_words(core::OperationId{request->session, request->seq}) + ": " + body;
    }
    return spec::words(command);
}

std::string in_words(const core::Outcome& outcome) {
    return std::visit(
        Overloaded{[](const core::Answered& answered) { return words(answered); },
                   [](const core::Queued& queued) { return in_words(queued.operation) + " waits"; },
                   [](const core::SessionOpened& opened) {
                       return "session " + number(opened.session) + " is open";
                   },
                   [](const core::SessionRenewed& renewed) {
                       return "session " + number(renewed.session) + " is renewed";
                   },
                   [](const core::SessionEnded& ended) {
                       return "session " + number(ended.session) + " " + words(ended.how);
                   },
                   [](const auto& other) { return spec::words(core::Outcome{other}); }},
        outcome);
}

std::string in_words(const core::MembershipGoal& goal) {
    const auto who = "node " + number(goal.member);
    switch (goal.kind) {
        case core::MembershipGoal::Kind::learner:
            return who + " at " + goal.address + " is to be a learner";
        case core::MembershipGoal::Kind::voter: return who + " is to be a voter";
        case core::MembershipGoal::Kind::gone: return who + " is to be no member any more";
        case core::MembershipGoal::Kind::leader: return who + " is to lead";
        case core::MembershipGoal::Kind::address: return who + " has moved to " + goal.address;
    }
    return {};
}

std::string in_words(const core::Call& call) {
    const auto what = std::visit(
        Overloaded{[](const core::AcquireCall& acquire) { return words(acquire.request); },
                   [](const core::ReleaseCall& release) {
                       return "release what " + in_words(release.hold) + " got";
                   },
                   [](const core::ChangeCall& change) { return in_words(change.goal); },
                   [](const auto& /*other*/) { return std::string{"another call"}; }},
        call);
    return "call " + number(core::tag_of(call)) + ": " + what;
}

std::string in_words(const core::CallAnswer& answer) {
    const auto what = std::visit(
        Overloaded{[](const core::Acquired& acquired) {
                       return "granted, token " + number(acquired.parts.front().token);
                   },
                   [](const core::Released& /*released*/) { return std::string{"released"}; },
                   [](const core::Changed& /*changed*/) { return std::string{"it is so now"}; },
                   [](const auto& /*other*/) { return std::string{"another answer"}; }},
        answer.result);
    return "answer to call " + number(answer.tag) + ": " + what;
}

std::string in_words(const core::Configuration& configuration) {
    auto text = "voters " + list(configuration.voters);
    if (configuration.is_joint())
        text += ", and jointly with them those before, " + list(configuration.outgoing);
    if (!configuration.learners.empty()) text += "; learners " + list(configuration.learners);
    return text;
}

std::string in_words(const core::Note& note) {
    std::string text;
    const std::uint64_t numbers[] = {note.term.raw(), note.peer.raw()};
    std::size_t used = 0;
    std::string_view rest = sim::words_of(note).line;
    for (auto hole = rest.find("{}"); hole != rest.npos; hole = rest.find("{}")) {
        text += std::string{rest.substr(0, hole)} + std::to_string(numbers[used++]);
        rest.remove_prefix(hole + 2);
    }
    return text + std::string{rest};
}

}  // namespace mortise::conversations
