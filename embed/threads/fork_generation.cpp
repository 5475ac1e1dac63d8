#include "embed/threads/fork_generation.hpp"

#include <atomic>
#include <system_error>

#include <pthread.h>

namespace mortise::detail {

namespace {

std::atomic<std::uint64_t> generation{0};

// Runs in the child before fork() returns there.
void forked() {
    generation.fetch_add(1, std::memory_order_relaxed);
}

bool watch_forks() {
    if (const int error = pthread_atfork(nullptr, nullptr, forked); error != 0) {
        throw std::system_error{error, std::generic_category(), "pthread_atfork"};
    }
    return true;
}

}  // namespace

ForkGeneration::ForkGeneration() {
    [[maybe_unused]] static const bool watched = watch_forks();
    made_in_ = generation.load(std::memory_order_relaxed);
}

bool ForkGeneration::is_forked() const {
    return generation.load(std::memory_order_relaxed) != made_in_;
}

}  // namespace mortise::detail
