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
struct GatedResource {
    std::mutex admitting;
    std::optional<std::int64_t> mark;  // guarded by `admitting`; empty: not read yet
    int users = 0;                     // guarded by the table's mutex
    // The admitted thread, or none. Threads that wait in any gate read it.
    std::atomic<std::thread::id> admitted;
};

// The resources of one gate that are in use. An unused resource needs no memory.
class GatedResources {
public:
    // Waits until no other thread is admitted. Throws std::system_error with Errc::deadlock if that
    // would never end: for a resource whose effect is the caller, and if the wait would complete a
    // cycle, perhaps through other gates.
    GatedResource& enter(const std::string& key);
    void leave(const std::string& key, GatedResource& resource) noexcept;

private:
    void give_up(const std::string& key, GatedResource& resource) noexcept;

    std::mutex mutex_;
    std::unordered_map<std::string, GatedResource> resources_;  // they do not move
};

class GateVisit {
public:
    GateVisit(GatedResources& resources, const std::string& key)
        : resources_{resources}, key_{key}, resource_{resources.enter(key)} {}
    ~GateVisit() { resources_.leave(key_, resource_); }
    GateVisit(const GateVisit&) = delete;
    GateVisit& operator=(const GateVisit&) = delete;

    [[nodiscard]] std::optional<std::int64_t>& mark() const { return resource_.mark; }

private:
    GatedResources& resources_;
    const std::string& key_;
    GatedResource& resource_;
};

}  // namespace mortise::detail
