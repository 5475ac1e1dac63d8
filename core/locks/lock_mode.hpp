// The mode in which a name is held (S26). `update` reads now and will be upgraded to `exclusive`
// later; the intent modes announce that finer names below this one are locked.
//
//   held \ wanted            IS   IX   S    SIX  U    X
//   intent_shared            yes  yes  yes  yes  yes  no
//   intent_exclusive         yes  yes  no   no   no   no
//   shared                   yes  no   yes  no   yes  no
//   shared_intent_exclusive  yes  no   no   no   no   no
//   update                   yes  no   yes  no   no   no
//   exclusive                no   no   no   no   no   no
#pragma once

#include <array>
#include <cstdint>

namespace mortise::core {

enum class LockMode : std::uint8_t {
    intent_shared,
    intent_exclusive,
    shared,
    shared_intent_exclusive,
    update,
    exclusive,
};

constexpr std::size_t lock_modes = 6;
constexpr std::array<LockMode, lock_modes> all_lock_modes{
    LockMode::intent_shared,           LockMode::intent_exclusive, LockMode::shared,
    LockMode::shared_intent_exclusive, LockMode::update,           LockMode::exclusive};

constexpr bool compatible(LockMode held, LockMode wanted) {
    constexpr std::array<std::uint8_t, lock_modes> admits{
        0b011111,  // a bit for each wanted mode, intent_shared lowest
        0b000011, 0b010101, 0b000001, 0b000101, 0b000000};
    return ((admits[static_cast<std::size_t>(held)] >> static_cast<unsigned>(wanted)) & 1U) != 0;
}

constexpr bool conflict(LockMode held, LockMode wanted) {
    return !compatible(held, wanted);
}

// S27: the first mode includes the rights of the second, which conflicts with nothing that the
// first admits.
constexpr bool covers(LockMode held, LockMode wanted) {
    for (const auto other : all_lock_modes) {
        if (compatible(held, other) && conflict(wanted, other)) return false;
    }
    return true;
}

// S31: a writer asks for a mode that conflicts with itself.
constexpr bool is_writer(LockMode mode) {
    return conflict(mode, mode);
}

// The table is symmetric, so the order of arrival does not matter.
static_assert([] {
    for (const auto a : all_lock_modes) {
        for (const auto b : all_lock_modes) {
            if (compatible(a, b) != compatible(b, a)) return false;
        }
    }
    return true;
}());
static_assert(is_writer(LockMode::update) && !is_writer(LockMode::intent_exclusive));
static_assert(compatible(LockMode::update, LockMode::shared));

}  // namespace mortise::core
