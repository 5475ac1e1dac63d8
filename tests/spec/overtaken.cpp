#include "tests/spec/overtaken.hpp"

#include "core/locks/limits.hpp"

namespace mortise::spec {

using core::LockMode;
using core::QueuePolicy;

namespace {

// S29: after being overtaken this often, a waiter is in the class above all priorities.
constexpr std::size_t overtakings_max = 8 * (core::priority_max + 1);

}  // namespace

bool is_writing(LockMode mode) {
    return mode == LockMode::shared_intent_exclusive || mode == LockMode::update ||
           mode == LockMode::exclusive;
}

const char* Overtaken::by(LockMode mode, core::LogIndex at, QueuePolicy policy,
                          bool has_priorities) {
    const std::size_t by_priority = has_priorities ? overtakings_max : 0;
    const bool prefers =
        policy == (is_writing(mode) ? QueuePolicy::prefer_writers : QueuePolicy::prefer_readers);
    const bool is_other = is_writing(mode) != is_writing(mode_);
    ++times_;
    if (policy == QueuePolicy::phase_fair) return by_phases(mode, at, by_priority);
    if (prefers && is_other && !has_priorities) {
        return times_ <= overtakings_max ? nullptr : "S29: overtaken, and moves up no class";
    }
    return times_ <= by_priority ? nullptr : "S31: overtaken in a queue";
}

// `more`: how often priorities may make the difference, for each way to be overtaken.
const char* Overtaken::by_phases(LockMode mode, core::LogIndex at, std::size_t more) {
    const bool waits_to_write = is_writing(mode_);
    if (!is_writing(mode)) {
        batches_past_.insert(at);
        const auto bound = waits_to_write ? writers_ahead_ + 1 + 2 * more : 1 + more;
        if (batches_past_.size() <= bound) return nullptr;
        return waits_to_write ? "S31: a writer overtaken too often"
                              : "S31: a reader overtaken by two batches";
    }
    ++writers_past_;
    if (waits_to_write) return writers_past_ <= more ? nullptr : "S29: a writer passed a writer";
    const std::size_t bound = mode_ == LockMode::intent_shared ? 1 : 2;
    return writers_past_ <= bound + more ? nullptr : "S31: a reader overtaken too often";
}

}  // namespace mortise::spec
