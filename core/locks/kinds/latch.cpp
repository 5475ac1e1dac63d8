#include "core/locks/kinds/latch.hpp"

#include "core/base/check.hpp"

namespace mortise::core {

void Latch::count_down(std::uint32_t count) {
    MORTISE_CHECK(count <= remaining_);
    remaining_ -= count;
}

std::optional<AnswerKind> CountDown::refusal(const Latch& latch, SessionId /*by*/) const {
    if (count > latch.remaining()) return AnswerKind::invalid_argument;
    return {};
}

KindStep CountDown::apply(Latch& latch, SessionId /*by*/) const {
    latch.count_down(count);
    if (!latch.is_open()) return {AnswerKind::stored};
    return {AnswerKind::stored, AnswerKind::passed};
}

std::string CountDown::words(Quote quote) const {
    return "count the latch " + quote(name) + " down by " + std::to_string(count) + ", of " +
           std::to_string(expected) + " at first";
}

std::optional<AnswerKind> AwaitLatch::refusal(const Latch& /*latch*/, SessionId /*by*/) const {
    return {};
}

KindStep AwaitLatch::apply(Latch& latch, SessionId /*by*/) const {
    return latch.is_open() ? KindStep{AnswerKind::passed} : KindStep{};
}

std::string AwaitLatch::words(Quote quote) const {
    return "wait for the latch " + quote(name) + ", of " + std::to_string(expected) + " at first" +
           (label.empty() ? "" : ", label " + quote(label));
}

}  // namespace mortise::core
