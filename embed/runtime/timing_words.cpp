#include "embed/runtime/timing_words.hpp"

#include <mortise/duration.hpp>

namespace mortise::detail {

std::string timing_differences(const core::HelloTiming& theirs, const core::HelloTiming& ours) {
    std::string text;
    const auto compare = [&](const char* key, core::Nanoseconds there, core::Nanoseconds here) {
        const bool are_known = there > core::Nanoseconds{} && here > core::Nanoseconds{};
        if (!are_known || there == here) return;
        text += (text.empty() ? "" : ", ") + std::string{key} + ' ' + to_string(Duration{there}) +
                " (here " + to_string(Duration{here}) + ')';
    };
    compare("election_timeout", theirs.election_timeout, ours.election_timeout);
    compare("heartbeat", theirs.heartbeat, ours.heartbeat);
    compare("session_ttl", theirs.session_ttl, ours.session_ttl);
    return text;
}

}  // namespace mortise::detail
