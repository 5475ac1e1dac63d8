// A call of the program, from when it is submitted until it is answered: one object, which moves
// from queue to queue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/agent/call.hpp"
#include "core/base/id_table.hpp"
#include "embed/threads/completion.hpp"
#include "embed/threads/queue.hpp"

namespace mortise::detail {

class SubmittedCall;

// What all calls have, and all of a call that ends something. Each hold is the call of its own
// release, so this takes little.
class Submitted : public Queued {
public:
    enum class Ends : std::uint8_t { nothing, call, hold, lapse, loss };

    // A cancel, release or notice (ToldCall) by what it ends; its `hold` is not set for a cancel.
    // The release of a lost hold is a lapse.
    explicit Submitted(Ends ends, core::CallTag tag = {}, core::OperationId hold = {})
        : tag_{tag}, hold_{hold}, ends_{ends} {}

    [[nodiscard]] core::CallTag tag() const { return tag_; }
    [[nodiscard]] core::OperationId hold() const { return hold_; }
    template <class Kind>
    [[nodiscard]] bool is() const {
        if constexpr (std::is_same_v<Kind, core::CancelCall>) {
            return ends_ == Ends::call;
        } else if constexpr (std::is_same_v<Kind, core::ReleaseCall>) {
            return ends_ == Ends::hold || is_lapse();
        } else if constexpr (std::is_same_v<Kind, core::ToldCall>) {
            return ends_ == Ends::loss;
        } else {
            return get_if<Kind>() != nullptr;
        }
    }
    [[nodiscard]] bool is_lapse() const { return ends_ == Ends::lapse; }
    // Null if it ends something.
    [[nodiscard]] SubmittedCall* as_call();
    // For the other kinds of calls; null if it is not such a one.
    template <class Kind>
    [[nodiscard]] Kind* get_if();
    template <class Kind>
    [[nodiscard]] const Kind* get_if() const {
        return const_cast<Submitted*>(this)->get_if<Kind>();
    }
    // It must be such a call.
    template <class Kind>
    [[nodiscard]] Kind& get() {
        return *get_if<Kind>();
    }
    template <class Kind>
    [[nodiscard]] const Kind& get() const {
        return *get_if<Kind>();
    }
    // The call for the core. Its kind and its plain values stay here until it is answered; texts
    // and lists do not.
    [[nodiscard]] core::Call take();

    void answer_to(std::shared_ptr<Completion> completion) { completion_ = std::move(completion); }
    [[nodiscard]] const std::shared_ptr<Completion>& completion() const { return completion_; }
    // Its caller, who is answered once; null if nobody waits.
    [[nodiscard]] std::shared_ptr<Completion> take_completion() { return std::move(completion_); }
    void answer(CallOutcome outcome) noexcept {
        if (const auto caller = take_completion()) caller->complete(std::move(outcome));
    }

    // While it waits for another run of the node.
    [[nodiscard]] core::Instant gives_up() const { return gives_up_; }
    void give_up_at(core::Instant steady) { gives_up_ = steady; }

protected:
    void set(Ends ends, core::CallTag tag) {
        ends_ = ends;
        tag_ = tag;
    }

private:
    std::shared_ptr<Completion> completion_;
    core::CallTag tag_;
    const core::OperationId hold_;
    core::Instant gives_up_ = core::Instant::never();
    // The small ones are the last, so that those of a HoldRecord take no further space.
    Ends ends_;
};

// The calls are in the order of submission. Moving them allocates nothing.
using SubmittedCalls = Queue<Submitted>;
// Those that the core has.
using PendingCalls = core::IdTable<core::CallTag, std::shared_ptr<Submitted>>;

// A counted slot among the calls in progress, which is freed when it is destroyed. It must be
// destroyed before its gate.
struct LeavePlace {
    void operator()(std::atomic<std::size_t>* taken) const { --*taken; }
};
using CallPlace = std::unique_ptr<std::atomic<std::size_t>, LeavePlace>;

class SubmittedCall final : public Submitted {
public:
    explicit SubmittedCall(core::Call one)
        : Submitted{Ends::nothing, core::tag_of(one)}, call{std::move(one)} {}

    core::Call call;
    // Only an acquiring call uses these two.
    CallPlace place;
    std::uint8_t age_warnings = 0;  // the number of warnings that it waits
};

// A call whose memory is allocated in advance, so that it can be submitted at any time.
[[nodiscard]] std::shared_ptr<Submitted> prepared(core::Call call);

inline SubmittedCall* Submitted::as_call() {
    return ends_ == Ends::nothing ? static_cast<SubmittedCall*>(this) : nullptr;
}

template <class Kind>
Kind* Submitted::get_if() {
    auto* const its = as_call();
    return its == nullptr ? nullptr : std::get_if<Kind>(&its->call);
}

// Calls for which a missing answer leaves the outcome unknown (P6).
[[nodiscard]] inline bool is_unknown_unanswered(const Submitted& call) {
    return call.is<core::ReleaseCall>() || call.is<core::WriteCall>() ||
           call.is<core::ChangeCall>();
}

}  // namespace mortise::detail
