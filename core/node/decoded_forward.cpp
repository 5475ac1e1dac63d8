#include "core/node/decoded_forward.hpp"

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

}  // namespace mortise::core
