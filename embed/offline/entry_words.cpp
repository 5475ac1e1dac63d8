#include "embed/offline/entry_words.hpp"

#include <variant>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/codec/state_sum_codec.hpp"
#include "embed/offline/hexadecimal.hpp"
#include "embed/runtime/translate.hpp"
#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

template <class Kind>
std::string number(core::Id<Kind> id) {
    return std::to_string(id.raw());
}

std::string in_quotes(std::string_view text) {
    return '"' + escaped_name(text) + '"';
}

std::string in_words(const core::Origin& origin) {
    const auto address = origin.address.empty() ? "" : " at " + origin.address;
    return escaped(core::default_label(origin) + address);
}

std::string session(core::SessionId id) {
    return "session " + number(id);
}

std::string milliseconds(std::string_view what, std::uint32_t time) {
    return time == 0 ? std::string{}
                     : ", " + std::string{what} + ' ' + std::to_string(time) + " ms";
}

std::string ways_of(const core::Acquire& request) {
    std::string words = request.wait ? ", waits" : ", does not wait";
    if (request.policy_given) words += ", " + std::string{to_string(from_core(request.policy))};
    if (request.priority != 0) words += ", priority " + std::to_string(request.priority);
    if (!request.label.empty()) words += ", label " + in_quotes(request.label);
    if (request.locker.is_set()) words += ", locker " + std::to_string(request.locker.number);
    if (request.permits != 0)
        words += ", " + std::to_string(request.permits) + " permits of " +
                 std::to_string(request.limit) + " at first";
    if (request.cached_tokens != 0)
        words += ", cached with " + std::to_string(request.cached_tokens) + " tokens";
    words += milliseconds("max_hold", request.terms.max_hold_ms);
    words += milliseconds("min_hold", request.terms.min_hold_ms);
    return words + milliseconds("lock_delay", request.terms.lock_delay_ms);
}

std::string mode(core::LockMode mode) {
    return std::string{to_string(from_core(mode))};
}

struct Body {
    std::string operator()(const core::Acquire& body) const {
        const bool all = body.which == core::Acquire::Which::all;
        std::string words = all ? "acquire all of" : "acquire any of";
        if (!all && body.names.size() == 1) words = "acquire";
        for (const auto& wanted : body.names)
            words += ' ' + in_quotes(wanted.name) + ' ' + mode(wanted.mode);
        return words + ways_of(body);
    }
    std::string operator()(const core::Release& body) const {
        return "release request " + number(body.operation) +
               (body.lost ? ", which was lost there" : "");
    }
    std::string operator()(const core::Cancel& body) const {
        return "cancel request " + number(body.operation);
    }
    std::string operator()(const core::Downgrade& body) const {
        return "downgrade request " + number(body.operation) + " to " + mode(body.mode);
    }
    std::string operator()(const core::Upgrade& body) const {
        return "upgrade request " + number(body.operation) +
               (body.wait ? ", waits" : ", does not wait");
    }
    std::string operator()(const core::SetValue& body) const {
        return "set the value of " + in_quotes(body.name) + ": " +
               std::to_string(body.bytes.size()) + " bytes, under request " +
               number(body.operation);
    }
    std::string operator()(const core::MarkConsistent& body) const {
        return "declare the value consistent of " + in_quotes(body.name) + " under request " +
               number(body.operation);
    }
    std::string operator()(const core::BreakLock& body) const {
        return "break " + in_quotes(body.name) + " held under token " + number(body.expected) +
               (body.immediate ? ", at once" : "") + ", reason " + in_quotes(body.reason) +
               (body.asked_by.empty() ? "" : ", asked by " + escaped(body.asked_by));
    }
    std::string operator()(const core::EvictSession& body) const {
        return "evict session " + number(body.session) + (body.immediate ? ", at once" : "") +
               ", reason " + in_quotes(body.reason) +
               (body.asked_by.empty() ? "" : ", asked by " + escaped(body.asked_by));
    }
    std::string operator()(const core::AskRelease& body) const {
        return "ask for the release of " + in_quotes(body.name) + ", reason " +
               in_quotes(body.reason);
    }
    std::string operator()(const core::Publish& body) const {
        return "publish the cached grant of request " + number(body.operation) + " under token " +
               number(body.token) +
               (body.locker.is_set() ? ", locker " + std::to_string(body.locker.number) : "") +
               (body.label.empty() ? "" : ", label " + in_quotes(body.label)) +
               (body.ended ? ", whose use has ended" : "");
    }
    std::string operator()(const core::Remove& body) const {
        return "remove " + in_quotes(body.name);
    }
    std::string operator()(const core::DescribedRequest auto& body) const {
        return body.words(in_quotes);
    }
    std::string operator()(const core::Declined&) const {
        return "declined: the leader had no capacity";
    }
    std::string operator()(const core::CloseSession&) const { return "close the session"; }
};

struct Words {
    std::string operator()(const core::OpenSession& command) const {
        return "open a session for node " + number(command.node) + ", incarnation " +
               hexadecimal(command.generation.incarnation.raw()) + ", boot epoch " +
               number(command.generation.boot_epoch) + ", ttl " + std::to_string(command.ttl_ms) +
               " ms" + (command.former_life_ended ? "; the former process has ended" : "") +
               (command.origin.is_set() ? "; from " + in_words(command.origin) : "");
    }
    std::string operator()(const core::Renew& command) const {
        std::string words = "renew";
        for (const auto& renewal : command.renewals)
            words += ' ' + session(renewal.session) + " (renewal " +
                     std::to_string(renewal.number) + ")";
        return words;
    }
    std::string operator()(const core::Expire& command) const {
        return "expire " + session(command.session) + ", last renewed at index " +
               number(command.renewed_at);
    }
    std::string operator()(const core::Sweep&) const {
        return "remove what ended sessions left behind";
    }
    std::string operator()(const core::Acknowledge& command) const {
        return session(command.session) + " has received the answers up to index " +
               number(command.received);
    }
    std::string operator()(const core::Request& command) const {
        return session(command.session) + ", request " + number(command.seq) + ": " +
               std::visit(Body{}, command.body);
    }
    std::string operator()(const core::EndClosure& command) const {
        return "end quorum timer " + number(command.closure);
    }
    std::string operator()(const core::Clock& command) const {
        return "it is " + std::to_string(command.ms) + " ms since 1970";
    }
    std::string operator()(const core::RaiseCeiling& command) const {
        return "raise the ceiling of tokens to " + number(command.to);
    }
};

std::vector<std::string> words_of_commands(const core::Bytes& payload) {
    const auto batch = core::decode_batch(payload);
    if (!batch) {
        const auto format = std::to_string(core::format_of(payload));
        return {"no commands that this version reads: format " + format};
    }
    std::vector<std::string> words;
    for (const auto& command : *batch)
        words.push_back(words_of(command));
    return words;
}

std::string words_of_configuration(const core::Bytes& payload) {
    const auto found = core::decode_configuration(payload);
    if (!found) return "no configuration that this version reads";
    std::string words = "cluster " + to_text(found->cluster);
    const auto add = [&words](std::string_view role, const std::vector<core::Member>& list) {
        for (const auto& member : list)
            words += ", " + std::string{role} + ' ' + number(member.id) + " at " +
                     escaped(member.address) + " (incarnation " +
                     hexadecimal(member.incarnation.raw()) + ')';
    };
    add("voter", found->voters);
    add("leaving", found->outgoing);
    add("learner", found->learners);
    return words;
}

std::string words_of_sum(const core::Bytes& payload) {
    const auto found = core::decode_state_sum(payload);
    if (!found) return "no checksum that this version reads";
    return "the state after index " + number(found->at) + " has the checksum " +
           hexadecimal(found->sum);
}

}  // namespace

std::string_view word_of(core::EntryKind kind) {
    switch (kind) {
        case core::EntryKind::noop: return "noop";
        case core::EntryKind::configuration: return "configuration";
        case core::EntryKind::commands: return "commands";
        case core::EntryKind::state_sum: return "state_sum";
        case core::EntryKind::sealed_commands: return "sealed_commands";
        case core::EntryKind::era: return "era";
    }
    return "unknown";
}

std::vector<std::string> words_of(const core::Entry& entry) {
    switch (entry.kind) {
        case core::EntryKind::noop: return {"a leader's first entry"};
        case core::EntryKind::configuration: return {words_of_configuration(entry.payload)};
        case core::EntryKind::commands:
        case core::EntryKind::sealed_commands: return words_of_commands(entry.payload);
        case core::EntryKind::era: return {"a new era: all sessions end"};
        case core::EntryKind::state_sum: return {words_of_sum(entry.payload)};
    }
    return {};
}

std::string words_of(const core::Command& command) {
    return std::visit(Words{}, command);
}

}  // namespace mortise::detail
