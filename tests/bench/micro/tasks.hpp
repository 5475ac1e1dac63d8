// The parts of an acquire and its release that are measured alone, without threads and disks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mortise::bench {

class Task {
public:
    virtual ~Task() = default;
    // Does it once more; the state that it needs was made before.
    virtual void run() = 0;
};

struct NamedTask {
    std::string name;
    std::size_t cycles;  // acquires with their releases, in each run
    std::function<std::unique_ptr<Task>()> make;
};

[[nodiscard]] std::vector<NamedTask> machine_tasks();  // apply, and the codec
[[nodiscard]] std::vector<NamedTask> core_tasks();     // NodeCore::step
[[nodiscard]] std::vector<NamedTask> driver_tasks();   // from a call to its answer

}  // namespace mortise::bench
