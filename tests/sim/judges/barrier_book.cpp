#include "tests/sim/judges/barrier_book.hpp"

#include <algorithm>
#include <iterator>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

BarrierBook::Meeting& BarrierBook::meeting_of(const core::Arrive& request) {
    const auto [found, is_new] = meetings_.try_emplace(request.name);
    if (is_new) found->second.parties = request.parties;
    return found->second;
}

bool BarrierBook::arrive(core::OperationId operation, const core::Arrive& request) {
    auto& meeting = meeting_of(request);
    meeting.arrived.insert(operation);
    if (request.drops) meeting.dropped.insert(operation);
    if (meeting.arrived.size() < meeting.parties) return false;
    if (!meeting.to_pass.empty()) report("two phases of " + request.name + " end at once");
    std::ranges::set_difference(meeting.arrived, meeting.dropped,
                                std::inserter(meeting.to_pass, meeting.to_pass.end()));
    meeting.to_pass.erase(operation);
    meeting.parties -= static_cast<std::uint32_t>(meeting.dropped.size());
    meeting.arrived.clear();
    meeting.dropped.clear();
    return true;
}

void BarrierBook::queued(core::OperationId operation, const core::Arrive& request) {
    tally_.probe("barrier waited for");
    if (arrive(operation, request)) report(in_words(operation) + " waits, but all have arrived");
}

void BarrierBook::dropped(core::OperationId operation, const core::Arrive& request) {
    if (!read_.insert(operation).second) return;
    tally_.probe("party dropped");
    (void)arrive(operation, request);
}

void BarrierBook::passed(core::OperationId operation, const core::Arrive& request,
                         core::LogIndex at) {
    if (!read_.insert(operation).second) return;
    tally_.probe("barrier passed");
    passed_[request.label] = at;
    auto& meeting = meeting_of(request);
    if (meeting.to_pass.erase(operation) == 1) return;
    const bool waited = meeting.arrived.contains(operation);
    if (waited || !arrive(operation, request))
        report(in_words(operation) + " passed before all had arrived");
}

void BarrierBook::broken(core::OperationId operation, const core::Arrive& request) {
    if (!read_.insert(operation).second) return;
    tally_.probe("barrier broken");
    const auto found = meetings_.find(request.name);
    if (found == meetings_.end()) return;
    if (found->second.to_pass.contains(operation))
        report(in_words(operation) + " did not pass, but all had arrived");
    found->second.arrived.clear();
    found->second.dropped.clear();
}

core::LogIndex BarrierBook::passed_at(const std::string& label) const {
    const auto found = passed_.find(label);
    return found == passed_.end() ? core::LogIndex{} : found->second;
}

}  // namespace mortise::sim
