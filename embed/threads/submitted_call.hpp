// A call of the program on its way to the core. Calls that end something are submitted with memory
// that was allocated long before, for every hold there is, so they take little; the others are in a
// block of their own.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/agent/call.hpp"

namespace mortise::detail {

class SubmittedCall {
public:
    SubmittedCall() = default;
    // NOLINTBEGIN(google-explicit-constructor): the same in another form
    SubmittedCall(core::Call call) {
        std::visit([this](auto& one) { put(std::move(one)); }, call);
    }
    template <class Kind>
    requires std::constructible_from<core::Call, Kind> SubmittedCall(Kind call) {
        put(std::move(call));
    }
    // NOLINTEND(google-explicit-constructor)

    // Null if it is not such a call.
    template <class Kind>
    [[nodiscard]] const Kind* get_if() const {
        if constexpr (is_small<Kind>) {
            return std::get_if<Kind>(&call_);
        } else {
            const auto* large = std::get_if<Large>(&call_);
            return large == nullptr ? nullptr : std::get_if<Kind>(&(*large)->call);
        }
    }
    template <class Kind>
    [[nodiscard]] Kind* get_if() {
        return const_cast<Kind*>(std::as_const(*this).get_if<Kind>());
    }
    template <class Kind>
    [[nodiscard]] bool is() const {
        return get_if<Kind>() != nullptr;
    }
    // It must be such a call.
    template <class Kind>
    [[nodiscard]] const Kind& get() const {
        return *get_if<Kind>();
    }
    template <class Kind>
    [[nodiscard]] Kind& get() {
        return *get_if<Kind>();
    }

    [[nodiscard]] core::CallTag tag() const {
        const auto* large = std::get_if<Large>(&call_);
        return large == nullptr ? core::tag_of(small()) : core::tag_of((*large)->call);
    }
    // For an acquire only. The hold has this progress_timeout (S8), or none if it is zero; its
    // grant may be cached or not. The core does not use these values.
    void set_terms(core::Nanoseconds progress_timeout, bool may_be_cached) {
        auto& block = *std::get<Large>(call_);
        block.progress_timeout = progress_timeout;
        block.may_be_cached = may_be_cached;
    }
    [[nodiscard]] core::Nanoseconds progress_timeout() const {
        const auto* large = std::get_if<Large>(&call_);
        return large == nullptr ? core::Nanoseconds{0} : (*large)->progress_timeout;
    }
    [[nodiscard]] bool may_be_cached() const {
        const auto* large = std::get_if<Large>(&call_);
        return large != nullptr && (*large)->may_be_cached;
    }

    // For an acquire only: when its caller began to wait, on the steady clock.
    void set_began(core::Instant steady) { std::get<Large>(call_)->began = steady; }
    [[nodiscard]] core::Instant began() const {
        const auto* large = std::get_if<Large>(&call_);
        return large == nullptr ? core::Instant{} : (*large)->began;
    }

    [[nodiscard]] core::Call take() {
        auto* large = std::get_if<Large>(&call_);
        return large == nullptr ? small() : std::move((*large)->call);
    }

private:
    struct Block {
        core::Call call;
        core::Nanoseconds progress_timeout{0};
        bool may_be_cached = false;
        core::Instant began{};
    };
    using Large = std::unique_ptr<Block>;
    template <class Kind>
    static constexpr bool is_small =
        std::is_same_v<Kind, core::ReleaseCall> || std::is_same_v<Kind, core::ToldCall> ||
        std::is_same_v<Kind, core::CancelCall>;

    template <class Kind>
    void put(Kind call) {
        if constexpr (is_small<Kind>) {
            call_ = call;
        } else {
            call_ = std::make_unique<Block>(Block{std::move(call)});
        }
    }
    // It must not be a large one.
    [[nodiscard]] core::Call small() const {
        if (const auto* release = get_if<core::ReleaseCall>()) return *release;
        if (const auto* told = get_if<core::ToldCall>()) return *told;
        return std::get<core::CancelCall>(call_);
    }

    std::variant<core::CancelCall, core::ReleaseCall, core::ToldCall, Large> call_;
};

}  // namespace mortise::detail
