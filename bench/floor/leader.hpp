// The least that a replicated log can do: batches, one append and one sync on each of three disks,
// a majority. It knows nothing of locks, terms or lost members.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/floor/desk.hpp"
#include "bench/floor/follower.hpp"
#include "bench/floor/log_file.hpp"

namespace mortise::bench {

class Leader {
public:
    // Starts the followers: call it before there are threads.
    explicit Leader(const std::filesystem::path& directory);
    // The callers must have returned.
    ~Leader();
    Leader(const Leader&) = delete;
    Leader& operator=(const Leader&) = delete;

    // Returns when the command is on the disks of a majority. Throws when the log cannot go on.
    void commit(const Command& command);
    // The same without waiting.
    void submit(const Command& command);
    // Returns the counters of all three processes together.
    [[nodiscard]] nlohmann::json counters() const;

private:
    struct Batch {
        std::vector<char> bytes;
        std::vector<std::binary_semaphore*> waiting;
    };

    void put(const Command& command, std::binary_semaphore* waiting);
    void run() noexcept;
    // False at the end.
    [[nodiscard]] bool take(Batch& batch);
    void replicate(const Batch& batch);
    // The leader's own disk is one of the majority, so one more is enough.
    void await_one_follower();
    // At the end, so that no answer meets a closed connection.
    void await_all_followers();

    Listener listener_;
    std::array<Follower, 2> followers_;
    LogFile log_;
    std::uint64_t sent_ = 0;
    std::atomic<std::uint64_t> entries_ = 0;
    std::atomic<std::uint64_t> commands_ = 0;
    std::atomic<std::uint64_t> answers_ = 0;

    std::mutex mutex_;
    std::condition_variable not_empty_;
    Batch next_;
    bool ends_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace mortise::bench
