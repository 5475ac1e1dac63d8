#include "embed/runtime/reopening.hpp"

#include <algorithm>
#include <utility>

#include "embed/threads/thread_start.hpp"

namespace mortise::detail {

std::chrono::milliseconds Reopening::after(std::chrono::milliseconds pause) {
    return std::min(2 * pause, pause_max);
}

void Reopening::begin(std::chrono::milliseconds pause, Work work) {
    const std::scoped_lock lock{mutex_};
    if (is_refused_) return;
    if (thread_.joinable()) thread_.join();  // the previous thread has finished its work
    thread_ = start_thread_named("mortise-reopen", [this, pause, work = std::move(work)] {
        run_or_fail([&] { run(pause, work); }, [&](const std::string& why) { work.failed(why); });
    });
}

void Reopening::run(std::chrono::milliseconds pause, const Work& work) {
    work.prepare();
    while (wait(pause) && !work.attempt(pause))
        pause = after(pause);
}

bool Reopening::wait(std::chrono::milliseconds pause) {
    std::unique_lock lock{mutex_};
    return !changed_.wait_for(lock, pause, [this] { return is_refused_; });
}

void Reopening::refuse() {
    {
        const std::scoped_lock lock{mutex_};
        is_refused_ = true;
    }
    changed_.notify_all();
}

void Reopening::await() {
    if (thread_.joinable()) thread_.join();
}

}  // namespace mortise::detail
