// All kinds of names but locks, with a room for each in this folder: its state, its requests, what
// they do and are answered, and their bytes. A new kind stands at the end of each list here.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>

#include "core/locks/kinds/barrier.hpp"
#include "core/locks/kinds/latch.hpp"
#include "core/locks/kinds/semaphore.hpp"

namespace mortise::core {

// What a name is, from the creation of its record until the record is gone.
enum class RecordKind : std::uint8_t { lock, semaphore, latch, barrier };

template <class... States>
struct KindList {
    using State = std::variant<States...>;
    using Views = std::tuple<std::optional<typename States::View>...>;

    // Calls it with each state as a new name of that kind would have it.
    template <class Function>
    static void for_each(Function function) {
        (function(States{}), ...);
    }
};
using Kinds = KindList<Semaphore, Latch, Barrier>;

using KindState = Kinds::State;
// What a reader learns of it. Only one is set, or none for a lock; a message may say anything.
using KindViews = Kinds::Views;

[[nodiscard]] inline RecordKind kind_of(const KindState& state) {
    return static_cast<RecordKind>(state.index() + 1);
}
constexpr auto last_record_kind = static_cast<RecordKind>(std::variant_size_v<KindState>);
static_assert(last_record_kind == RecordKind::barrier);

template <class... Bodies>
struct RequestList {
    template <class... Others>
    using Behind = std::variant<Others..., Bodies...>;
};
using KindRequests = RequestList<Resize, CountDown, AwaitLatch, Arrive, Quit>;

}  // namespace mortise::core
