// Who is at which resource of a FenceGate, and who waits for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

namespace mortise::detail {

// What somebody is being admitted to, or waits for.
struct GateEntry {
    std::mutex admitting;
    std::optional<std::int64_t> mark;  // guarded by `admitting`; empty: not known yet
    int users = 0;                     // guarded by the table's mutex
    // None while nobody is admitted. Looked at by those who wait in any gate.
    std::atomic<std::thread::id> admitted;
};

// The entries of one gate, and no others: a resource nobody is at costs no memory.
class GateEntries {
public:
    // Waits until nobody else is admitted. Throws std::system_error with Errc::deadlock when that
    // would be for ever: for the effect of the very resource, and for one that waits, perhaps
    // through others and other gates, for who waits for it.
    GateEntry& enter(const std::string& key);
    void leave(const std::string& key, GateEntry& entry) noexcept;

private:
    void give_up(const std::string& key, GateEntry& entry) noexcept;

    std::mutex mutex_;
    std::unordered_map<std::string, GateEntry> entries_;  // their places do not change
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
