#include "embed/runtime/core_thread.hpp"

#include "embed/threads/thread_start.hpp"

namespace mortise::detail {

void CoreThread::start(std::function<void()> run) {
    thread_ = start_thread_named("mortise-core", std::move(run));
}

}  // namespace mortise::detail
