// The completion of an acquire that asks the cluster for a name of the grant cache.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/agent/call.hpp"
#include "embed/holds/grant_cache.hpp"
#include "embed/threads/completion.hpp"

namespace mortise::detail {

// The acquire of a caller for which others may wait: its end is the end of their waiting.
class AskingCall final : public Completion {
public:
    AskingCall(std::shared_ptr<GrantCache> cache, std::string name, core::CallTag tag,
               std::shared_ptr<Completion> caller)
        : cache_{std::move(cache)}, name_{std::move(name)}, tag_{tag}, caller_{std::move(caller)} {}

    void complete(CallOutcome outcome) noexcept override {
        caller_->complete(std::move(outcome));
        cache_->answered(name_, tag_);
    }
    // For a call that has not asked the cluster.
    static Completion& caller_of(const Submitted& acquire) {
        return *static_cast<const AskingCall&>(*acquire.completion()).caller_;
    }

private:
    const std::shared_ptr<GrantCache> cache_;
    const std::string name_;
    const core::CallTag tag_;
    const std::shared_ptr<Completion> caller_;
};

}  // namespace mortise::detail
