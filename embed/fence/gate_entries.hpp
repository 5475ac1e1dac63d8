// Which thread is admitted to each resource of a FenceGate, and which threads wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

namespace mortise::detail {

// One resource that threads are admitted to or wait for.
struct GateEntry {
    std::mutex admitting;
    std::optional<std::int64_t> mark;  // guarded by `admitting`; empty: not read yet
    int users = 0;                     // guarded by the table's mutex
    // The admitted thread, or none. Threads that wait in any gate read it.
    std::atomic<std::thread::id> admitted;
};

// The entries of one gate that are in use. An unused resource needs no memory.
class GateEntries {
public:
    // Waits until no other thread is admitted. Throws std::system_error with Errc::deadlock if that
    // would never end: for a resource whose effect is the caller, and if the wait would complete a
    // cycle, perhaps through other gates.
    GateEntry& enter(const std::string& key);
    void leave(const std::string& key, GateEntry& entry) noexcept;

private:
    void give_up(const std::string& key, GateEntry& entry) noexcept;

    std::mutex mutex_;
    std::unordered_map<std::string, GateEntry> entries_;  // the entries do not move
};

class GateVisit {
public:
    GateVisit(GateEntries& entries, const std::string& key)
        : entries_{entries}, key_{key}, entry_{entries.enter(key)} {}
    ~GateVisit() { entries_.leave(key_, entry_); }
    GateVisit(const GateVisit&) = delete;
    GateVisit& operator=(const GateVisit&) = delete;

    [[nodiscard]] std::optional<std::int64_t>& mark() const { return entry_.mark; }

private:
    GateEntries& entries_;
    const std::string& key_;
    GateEntry& entry_;
};

}  // namespace mortise::detail
