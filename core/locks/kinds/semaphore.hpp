// Semaphores (S34): how many permits there are, and which of their numbered slots are taken. Each
// hold has as many slots as permits, the lowest that were free (S15). Permits are acquired like a
// lock; the request that is for semaphores alone is here, with its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/kinds/kind.hpp"

namespace mortise::core {

constexpr std::uint32_t semaphore_limit_max = 65'536;  // permits of one semaphore
constexpr std::uint32_t permits_max = 1'024;           // of one acquire

// The numbers of the slots of a semaphore that a hold has: ascending, from zero on (S15).
using Slots = std::vector<std::uint32_t>;

class Semaphore {
public:
    static constexpr std::uint8_t row_flag = 8;
    static constexpr bool has_holders = true;

    explicit Semaphore(std::uint32_t limit = 0, std::uint64_t version = 1)
        : limit_{limit}, version_{version} {}

    // Writes the fields to a row, or reads them from one. The taken slots are not among them: the
    // holders have these.
    static void fields(auto& of, auto& self) {
        of.number(self.limit_, 0, semaphore_limit_max);
        of.any(self.version_);
    }
    [[nodiscard]] bool is_sound() const { return version_ != 0; }

    [[nodiscard]] std::uint32_t limit() const { return limit_; }
    // Begins with 1, and grows with each change of the limit.
    [[nodiscard]] std::uint64_t version() const { return version_; }
    [[nodiscard]] bool was_resized() const { return version_ > 1; }
    // Takes no slot away, even if more are taken now than the limit allows.
    void resize(std::uint32_t limit);
    // It stays without holders and waiters (S37).
    [[nodiscard]] bool stays() const { return was_resized(); }
    // QueueAdmission checks those who wait for permits.
    [[nodiscard]] bool fits(const WaitingParties& /*waiting*/) const { return true; }

    [[nodiscard]] std::uint32_t taken() const { return taken_; }
    // True if the limit allows so many more.
    [[nodiscard]] bool has_free(std::uint32_t permits) const {
        return permits <= limit_ && taken_ <= limit_ - permits;
    }
    // The lowest slots that are free. After has_free() all of them are below the limit.
    [[nodiscard]] Slots lowest_free(std::uint32_t permits) const;
    // Whether the slots ascend, exist, and are all free.
    [[nodiscard]] bool are_free(const Slots& slots) const;
    // They must be free.
    void take(const Slots& slots);
    // They must be taken.
    void give_back(const Slots& slots);

    struct View {
        std::uint32_t permits = 0;  // how many there are
        std::uint64_t version = 0;
        friend bool operator==(const View&, const View&) = default;
    };
    [[nodiscard]] View view(const Onlooker& /*to*/) const { return {limit_, version_}; }

private:
    [[nodiscard]] bool is_taken(std::uint32_t slot) const;

    std::uint32_t limit_;
    std::uint32_t taken_ = 0;
    std::uint64_t version_;
    std::vector<std::uint64_t> bits_;  // a bit for each slot, the lowest first: it is taken
};

// Changes the limit of a semaphore, and takes no permit away. The semaphore exists from then on
// until it is removed (S37).
struct Resize {
    using State = Semaphore;
    static constexpr std::uint8_t log_number = 23;

    std::string name;
    std::uint32_t limit = 0;  // with zero nobody gets a permit
    // The request has an effect only if the limit has this version: 1 until the first change, and
    // one more with each change. Zero: whatever it has.
    std::uint64_t expected_version = 0;

    static void fields(auto& of, auto& self) {
        of.name(self.name);
        of.number(self.limit, 0, semaphore_limit_max);
        of.any(self.expected_version);
    }
    [[nodiscard]] Semaphore made() const { return Semaphore{limit}; }
    [[nodiscard]] std::optional<AnswerKind> refusal(const Semaphore& semaphore, SessionId by) const;
    [[nodiscard]] KindStep apply(Semaphore& semaphore, SessionId by) const;
    [[nodiscard]] std::string words(Quote quote) const;
    friend bool operator==(const Resize&, const Resize&) = default;
};

}  // namespace mortise::core
