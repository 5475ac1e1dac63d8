#include "embed/holds/release.hpp"

#include <chrono>
#include <new>
#include <tuple>
#include <utility>

#include "embed/holds/grant_cache.hpp"
#include "embed/holds/locker_state.hpp"
#include "embed/threads/call_gate.hpp"
#include <mortise/detail/for_others.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {

GivenBack give_back(const std::shared_ptr<HoldRecord>& hold, core::CallTag tag,
                    std::shared_ptr<Completion> waiting) noexcept {
    auto& record = *hold;
    if (record.put_back()) return {};  // it stays with the node, which need not know
    const bool is_released = record.mark_released();
    record.forget_watcher();  // the owner also releases a lost hold
    GivenBack given;
    const bool is_whole = !record.grant() || (record.cache() && !record.locker());
    if (is_whole) {
        std::ignore = record.leave();
        if (is_released) return submit_release(hold, tag, std::move(waiting));
        // Its locker released it on another thread. The next request of this thread must not find
        // the old hold in its way (S20).
        if (record.is_released()) record.wait_until_given_back();
    } else if (record.locker() && record.leave()) {
        given = record.locker()->leave(record, tag, std::move(waiting));
    }
    return is_released ? given : GivenBack{false, record.failure()};
}

GivenBack submit_release(const std::shared_ptr<HoldRecord>& grant, core::CallTag tag,
                         std::shared_ptr<Completion> waiting) noexcept {
    const auto& cache = grant->cache();
    return cache ? cache->leave(grant, tag, std::move(waiting))
                 : send_release(grant, tag, std::move(waiting));
}

GivenBack send_release(const std::shared_ptr<HoldRecord>& grant, core::CallTag tag,
                       std::shared_ptr<Completion> waiting) noexcept {
    grant->prepare_release(tag, std::move(waiting));
    std::shared_ptr<Submitted> release = grant;
    const auto refused = grant->gate()->submit(release);
    if (refused) std::ignore = release->take_completion();
    grant->set_given_back();
    return {!refused, refused};
}

namespace {

const std::shared_ptr<HoldRecord>& whole_of(const std::shared_ptr<HoldRecord>& hold) {
    return hold->grant() ? whole_of(hold->grant()) : hold;
}

}  // namespace

// The call comes first: if the owners were notified before it, the core would wait for them (S6).
void lapse(const Hold& hold) noexcept {
    const auto& record = HoldRecord::of(hold);
    if (!record || record->is_released()) return;
    const auto& grant = whole_of(record);
    std::shared_ptr<Submitted> call;
    try {
        call = prepared(core::ReleaseCall{{}, grant->hold(), true});
    } catch (const std::bad_alloc&) {
        std::ignore = give_back(record, {}, nullptr);
        return;
    }
    if (!grant->mark_lost(LossReason::expired)) return;
    std::ignore = grant->gate()->submit(call);
    std::ignore = grant->gate()->notifier().post(grant);
}

std::error_code wait_for_release(WaitingThread& waiting, const CallGate& gate) {
    const auto deadline = std::chrono::steady_clock::now() + gate.call_timeout();
    return waiting.answer_by(deadline, Errc::outcome_unknown).error;
}

}  // namespace mortise::detail
