#include "core/node/decoded_forward.hpp"

#include <algorithm>

#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

Bytes batch_of(const std::vector<Command>& commands) {
    BatchBuilder batch;
    for (const auto& command : commands)
        batch.add(command);
    return batch.take();
}

// True if these are requests of one session, numbered without gaps.
bool are_part_of_a_stream(const std::vector<Command>& commands) {
    const Request* before = nullptr;
    for (const auto& command : commands) {
        const auto* request = std::get_if<Request>(&command);
        if (request == nullptr) continue;
        const bool follows = before == nullptr || (request->session == before->session &&
                                                   request->seq == before->seq.next());
        if (!follows) return false;
        before = request;
    }
    return true;
}

}  // namespace

DecodedForward decode(const Forward& forward, std::uint8_t format) {
    DecodedForward decoded{{}, {}, forward.renewal};
    if (forward.batch.empty()) return decoded;
    auto commands = decode_batch(forward.batch, format);
    if (!commands || !are_part_of_a_stream(*commands)) {
        decoded.is_malformed = true;
        return decoded;
    }
    decoded.batch = forward.batch;
    decoded.commands = std::move(*commands);
    for (const auto& command : decoded.commands) {
        const auto* request = std::get_if<Request>(&command);
        if (request == nullptr) continue;
        if (!decoded.session.is_set()) decoded.first = request->seq;
        decoded.session = request->session;
        decoded.last = request->seq;
    }
    return decoded;
}

// In the log they would be duplicates, or have no effect.
void leave_out_requests(DecodedForward& decoded, Seq next) {
    if (next == decoded.first) return;
    const auto removed = std::erase_if(decoded.commands, [&](const auto& command) {
        const auto* request = std::get_if<Request>(&command);
        return request != nullptr && (!next.is_set() || request->seq < next);
    });
    if (!next.is_set() || next > decoded.last) decoded.session = {};
    if (removed != 0) decoded.batch = batch_of(decoded.commands);
}

// P11: each of these requests is answered under its own number, so that the releases behind it
// proceed.
void decline_acquiring(DecodedForward& decoded) {
    bool declines = false;
    for (auto& command : decoded.commands) {
        auto* request = std::get_if<Request>(&command);
        if (request == nullptr || is_releasing(request->body)) continue;
        request->body = Declined{};
        declines = true;
    }
    if (declines) decoded.batch = batch_of(decoded.commands);
}

// The access that the opener wrote itself does not count; its certificate does. The format that a
// member claims to read does not count either: otherwise a member could lift the rules for all
// nodes by claiming to be old. Every version that knows certificates reads such commands.
void set_access(DecodedForward& decoded, NodeId opener, const Access& access) {
    bool differs = false;
    for (auto& command : decoded.commands) {
        auto* opening = std::get_if<OpenSession>(&command);
        if (opening == nullptr || opening->node != opener || opening->access == access) continue;
        opening->access = access;
        differs = true;
    }
    if (differs) decoded.batch = batch_of(decoded.commands);
}

void set_address(DecodedForward& decoded, const std::string& address) {
    bool differs = false;
    for (auto& command : decoded.commands) {
        auto* opening = std::get_if<OpenSession>(&command);
        if (opening == nullptr) continue;
        auto origin = opening->origin;
        origin.address = address;
        origin = tidied(std::move(origin));
        if (origin == opening->origin) continue;
        opening->origin = std::move(origin);
        differs = true;
    }
    if (differs) decoded.batch = batch_of(decoded.commands);
}

SessionId turn_of(const DecodedForward& decoded) {
    if (decoded.session.is_set() || decoded.commands.empty()) return decoded.session;
    return std::visit(Overloaded{[](const OpenSession& one) { return SessionId{one.nonce}; },
                                 [](const Acknowledge& one) { return one.session; },
                                 [](const auto&) { return SessionId{}; }},
                      decoded.commands.front());
}

void note_names(NamesUnderWay& under_way, const DecodedForward& decoded, const Session& session) {
    if (under_way.newest <= session.applied) under_way = {};
    for (const auto& command : decoded.commands) {
        const auto* request = std::get_if<Request>(&command);
        const auto* acquire = request != nullptr ? std::get_if<Acquire>(&request->body) : nullptr;
        if (acquire == nullptr || acquire->names.size() <= 1) continue;
        under_way.newest = std::max(under_way.newest, request->seq);
        under_way.most = std::max(under_way.most, acquire->names.size());
    }
}

namespace {

// Returns how many names the operation has that a release or a cancel ends. If it is not applied
// yet, it may have as many as any that is under way.
std::size_t names_of_operation(const Session* session, const NamesUnderWay& under_way,
                               Seq operation) {
    if (session == nullptr) return 1;
    if (operation > session->applied) return operation <= under_way.newest ? under_way.most : 1;
    // Most sessions have no operation with several names.
    if (session->names == session->operations.size()) return 1;
    const auto* found = session->operations.find(operation);
    return found == nullptr ? 1 : std::max<std::size_t>(found->names().size(), 1);
}

// The names that a command concerns: the work of applying it.
std::size_t names_in(const Command& command, const Session* session,
                     const NamesUnderWay& under_way) {
    const auto* request = std::get_if<Request>(&command);
    if (request == nullptr) return 1;
    if (const auto* acquire = std::get_if<Acquire>(&request->body))
        return std::max<std::size_t>(acquire->names.size(), 1);
    if (const auto* release = std::get_if<Release>(&request->body))
        return names_of_operation(session, under_way, release->operation);
    if (const auto* cancel = std::get_if<Cancel>(&request->body))
        return names_of_operation(session, under_way, cancel->operation);
    return 1;
}

FairQueue::Batch batch_of(SessionId turn, BatchBuilder& out) {
    const auto commands = out.count();
    const auto names = out.names();
    const bool is_sealed = out.is_sealed();
    return {turn, out.take(), commands, names, is_sealed};
}

}  // namespace

std::size_t names_in(const DecodedForward& decoded, const Session* session,
                     const NamesUnderWay& under_way) {
    std::size_t names = 0;
    for (const auto& command : decoded.commands)
        names += names_in(command, session, under_way);
    return names;
}

// The last request of a correct node's batch may have more names than the others left.
bool is_an_entry(std::size_t names) {
    return names < entry_commands_max + names_at_once_max;
}

std::vector<FairQueue::Batch> divided(const DecodedForward& decoded, const Session* session,
                                      const NamesUnderWay& under_way) {
    const auto turn = turn_of(decoded);
    std::vector<FairQueue::Batch> parts;
    BatchBuilder part;
    for (const auto& command : decoded.commands) {
        const auto more = names_in(command, session, under_way);
        if (!part.is_empty() && part.names() + more > entry_commands_max)
            parts.push_back(batch_of(turn, part));
        part.add(command, more);
    }
    parts.push_back(batch_of(turn, part));
    return parts;
}

}  // namespace mortise::core
