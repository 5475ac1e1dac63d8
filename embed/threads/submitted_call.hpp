// A call of the program, from when it is submitted until it is answered. Calls that end something
// are submitted with memory that was allocated long before, for every hold there is, so they take
// little; the others are in a block of their own.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/agent/call.hpp"
#include "core/base/overloaded.hpp"

namespace mortise::detail {

// A counted slot among the calls in progress, which is freed when it is destroyed. It must be
// destroyed before its gate.
struct LeavePlace {
    void operator()(std::atomic<std::size_t>* taken) const { --*taken; }
};
using CallPlace = std::unique_ptr<std::atomic<std::size_t>, LeavePlace>;

class SubmittedCall {
public:
    SubmittedCall() = default;
    // NOLINTBEGIN(google-explicit-constructor): the same in another form
    template <class Kind>
    requires(std::constructible_from<core::Call, Kind> && !std::same_as<Kind, core::Call>)
        SubmittedCall(Kind call) {
        if constexpr (is_small<Kind>) {
            call_ = call;
        } else {
            call_ = std::make_unique<Block>(Block{std::move(call)});
        }
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
        return std::visit(core::Overloaded{[](const Large& one) { return core::tag_of(one->call); },
                                           [](const auto& one) { return one.tag; }},
                          call_);
    }
    // What only an acquiring call has. Null if it is small.
    struct Block {
        core::Call call;
        CallPlace place{};
        std::uint8_t age_warnings = 0;  // the number of warnings that it waits
    };
    [[nodiscard]] Block* block() {
        auto* large = std::get_if<Large>(&call_);
        return large == nullptr ? nullptr : large->get();
    }
    // The call for the core. Its kind and its plain values stay here until it is answered; texts
    // and lists do not.
    [[nodiscard]] core::Call take() {
        return std::visit(core::Overloaded{[](Large& one) { return std::move(one->call); },
                                           [](auto& one) { return core::Call{one}; }},
                          call_);
    }

private:
    using Large = std::unique_ptr<Block>;
    template <class Kind>
    static constexpr bool is_small =
        std::is_same_v<Kind, core::ReleaseCall> || std::is_same_v<Kind, core::ToldCall> ||
        std::is_same_v<Kind, core::CancelCall>;

    std::variant<core::CancelCall, core::ReleaseCall, core::ToldCall, Large> call_;
};

// Calls for which a missing answer leaves the outcome unknown (P6).
[[nodiscard]] inline bool is_unknown_unanswered(const SubmittedCall& call) {
    return call.is<core::ReleaseCall>() || call.is<core::WriteCall>() ||
           call.is<core::ChangeCall>();
}

}  // namespace mortise::detail
