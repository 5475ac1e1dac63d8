#include "tests/sim/judges/repeats.hpp"

#include <array>
#include <string_view>
#include <variant>

namespace mortise::sim {

namespace {

// In the order of core::RequestBody.
constexpr auto probes_of_repeats = std::to_array<std::string_view>({
    "repeat in the log: acquire",
    "repeat in the log: release",
    "repeat in the log: cancel",
    "repeat in the log: downgrade",
    "repeat in the log: upgrade",
    "repeat in the log: value",
    "repeat in the log: consistent",
    "repeat in the log: break",
    "repeat in the log: ask for a release",
    "repeat in the log: publish",
    "repeat in the log: declined",
    "repeat in the log: end of the session",
    "repeat in the log: removal",
    "repeat in the log: eviction",
    "repeat in the log: resize",
    "repeat in the log: count",
    "repeat in the log: wait for a latch",
    "repeat in the log: arrival",
    "repeat in the log: arrival given up",
});
static_assert(probes_of_repeats.size() == std::variant_size_v<core::RequestBody>);

std::string_view probe_of(const core::RequestBody& body) {
    const auto* acquire = std::get_if<core::Acquire>(&body);
    const bool is_several = acquire != nullptr && acquire->names.size() > 1;
    return is_several ? "repeat in the log: several names" : probes_of_repeats[body.index()];
}

}  // namespace

void Repeats::read(core::Term term, const core::Request& request, bool session_ended) {
    const core::OperationId id{request.session, request.seq};
    const auto [first, is_new] = first_.emplace(id, term);
    if (session_ended) tally_.probe("request of an ended session in the log");
    // Its first copy has ended the session.
    const bool ends = std::holds_alternative<core::CloseSession>(request.body);
    if (session_ended && !is_new && ends) tally_.probe(probe_of(request.body));
    if (!session_ended && !is_new && cancelled_.contains(id))
        tally_.probe("repeat behind its cancel");
    if (!session_ended && !is_new) {
        tally_.probe(probe_of(request.body));
        if (first->second != term) tally_.probe("repeat in a later term");
    }
    const auto* cancel = std::get_if<core::Cancel>(&request.body);
    if (cancel != nullptr) cancelled_.insert({request.session, cancel->operation});
}

}  // namespace mortise::sim
