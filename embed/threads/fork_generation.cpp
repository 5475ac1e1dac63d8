#include "embed/threads/fork_generation.hpp"

#include <system_error>

#include <pthread.h>

namespace mortise::detail {

std::atomic<std::uint64_t> ForkGeneration::present_{0};

// Runs in the child before fork() returns there.
void ForkGeneration::forked() {
    present_.fetch_add(1, std::memory_order_relaxed);
}

bool ForkGeneration::watch_forks() {
    if (const int error = pthread_atfork(nullptr, nullptr, forked); error != 0) {
        throw std::system_error{error, std::generic_category(), "pthread_atfork"};
    }
    return true;
}

ForkGeneration::ForkGeneration() {
    [[maybe_unused]] static const bool watched = watch_forks();
    made_in_ = present_.load(std::memory_order_relaxed);
}

}  // namespace mortise::detail
