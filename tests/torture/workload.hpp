// Random calls from one thread: waits with and without a limit, tries, cancelled waits, holds of
// all lengths, some with time limits (S8, S9), some that are released on request; breaks; values,
// and writes to a store that compares tokens. Everything is recorded in the history.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/process/shared_counter.hpp"
#include "tests/support/history_writer.hpp"
#include <mortise/mortise.hpp>

namespace mortise::tests {

// The data that the threads of a worker share.
struct Surroundings {
    Node& node;
    HistoryWriter& history;
    // The first name is for long holds. The last one stays closed after each hold, so it is never
    // tried: a closed name is busy without a holder.
    std::vector<std::string> names;
    std::string store;  // a folder with a file for each name
    std::chrono::nanoseconds ttl;
    std::chrono::nanoseconds call_timeout;
    std::stop_source stop{};
    std::atomic<bool> calm = false;  // no more long holds
};

// Some long holds are always in progress, so that faults make them lost.
enum class Habit : std::uint8_t { short_holds, long_holds };

class Workload {
public:
    // Opens all files that it will need, because later there may be no descriptor for them.
    Workload(Surroundings& around, Habit habit, std::uint64_t seed);

    // Until it is stopped, or the node has stopped.
    void run();

private:
    using Nanoseconds = std::chrono::nanoseconds;

    struct Wish {
        std::string name;
        LockMode mode = LockMode::exclusive;
        bool is_try = false;
        std::optional<Nanoseconds> wait_max{};
        std::optional<Nanoseconds> cancel_after{};
        std::optional<Nanoseconds> max_hold{};
        std::optional<Nanoseconds> min_hold{};
        std::optional<Nanoseconds> lock_delay{};
        bool yields = false;  // releases early when another session waits or requests it
    };

    Wish draw_wish();
    void draw_terms(Wish& wish);
    AcquireOptions options_of(const Wish& wish);
    void disturb();  // breaks another session's hold, or requests its release
    [[nodiscard]] bool is_cached(const std::string& name) const;
    const std::string& draw_name();
    std::optional<Hold> ask(const Wish& wish);
    std::optional<Hold> call_node(const Wish& wish, std::error_code& ec);
    void record_begin(std::int64_t call, const Wish& wish);
    void record_end(std::int64_t call, const Wish& wish, const std::optional<Hold>& hold,
                    const std::error_code& ec);

    void use(Hold& hold);
    Nanoseconds draw_length();
    // Keeps it for that time, and checks at intervals whether it is valid.
    void keep(const Hold& hold, Nanoseconds length, std::atomic<std::int64_t>& seen_valid);
    void write(const Hold& hold, std::optional<std::int64_t> value);
    std::optional<std::int64_t> read_as(const Hold& hold);
    // The value of the name (S36): the token of the last writer.
    void read_and_write_value(const Hold& hold);
    void release(Hold& hold);
    [[nodiscard]] SharedCounter& store_of(const std::string& name) { return *stores_.at(name); }

    bool chance(int percent) { return between(1, 100) <= percent; }
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>{least, most}(random_);
    }
    Nanoseconds milliseconds(std::int64_t least, std::int64_t most) {
        return std::chrono::milliseconds{between(least, most)};
    }
    void sleep(Nanoseconds length);

    Surroundings& around_;
    Habit habit_;
    std::mt19937_64 random_;
    std::map<std::string, std::unique_ptr<SharedCounter>> stores_;
    std::int64_t asked_at_ = 0;
    std::int64_t asked_by_ = 0;  // the call by which this thread got its hold
    // For the hold of this thread; its callbacks may come after it is released.
    std::shared_ptr<std::atomic<bool>> is_wanted_;
    bool node_stopped_ = false;
};

}  // namespace mortise::tests
