#include "core/node/inbound.hpp"

#include <algorithm>

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

Inbound look_into(const Forward& forward, std::uint8_t format) {
    Inbound inbound{{}, {}, forward.renewal};
    if (forward.batch.empty()) return inbound;
    auto commands = decode_batch(forward.batch, format);
    if (!commands || !are_part_of_a_stream(*commands)) {
        inbound.is_malformed = true;
        return inbound;
    }
    inbound.batch = forward.batch;
    inbound.commands = std::move(*commands);
    for (const auto& command : inbound.commands) {
        const auto* request = std::get_if<Request>(&command);
        if (request == nullptr) continue;
        if (!inbound.session.is_set()) inbound.first = request->seq;
        inbound.session = request->session;
        inbound.last = request->seq;
    }
    return inbound;
}

// In the log they would be duplicates, or have no effect.
void leave_out_requests(Inbound& inbound, Seq next) {
    if (next == inbound.first) return;
    const auto removed = std::erase_if(inbound.commands, [&](const auto& command) {
        const auto* request = std::get_if<Request>(&command);
        return request != nullptr && (!next.is_set() || request->seq < next);
    });
    if (!next.is_set() || next > inbound.last) inbound.session = {};
    if (removed != 0) inbound.batch = batch_of(inbound.commands);
}

// P11: each of these requests is answered under its own number, so that the releases behind it
// proceed.
void decline_what_begins(Inbound& inbound) {
    bool declines = false;
    for (auto& command : inbound.commands) {
        auto* request = std::get_if<Request>(&command);
        if (request == nullptr || ends_something(request->body)) continue;
        request->body = Declined{};
        declines = true;
    }
    if (declines) inbound.batch = batch_of(inbound.commands);
}

// The access that the opener wrote itself does not count; its certificate does. The format that a
// member claims to read does not count either: otherwise a member could lift the rules for all
// nodes by claiming to be old. Every version that knows certificates reads such commands.
void set_access(Inbound& inbound, NodeId opener, const Access& access) {
    bool differs = false;
    for (auto& command : inbound.commands) {
        auto* opening = std::get_if<OpenSession>(&command);
        if (opening == nullptr || opening->node != opener || opening->access == access) continue;
        opening->access = access;
        differs = true;
    }
    if (differs) inbound.batch = batch_of(inbound.commands);
}

}  // namespace mortise::core
