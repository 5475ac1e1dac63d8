#include "storage/rocks_process.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <vector>

namespace mortise::storage {

namespace {

std::atomic<bool> is_too_late{false};

// Nothing destroys it: whoever is late looks at it.
std::shared_timed_mutex& work() {
    static auto& mutex = *new std::shared_timed_mutex;
    return mutex;
}

// As long as a node waits for its end. There is an end to it: a disk may hang, and a fork copies
// what others were at.
constexpr std::chrono::seconds patience{5};

void end_work() {
    const bool is_alone = work().try_lock_for(patience);
    is_too_late = true;
    if (is_alone) work().unlock();
}

}  // namespace

void keep_for_good(const void* object) noexcept {
    static std::mutex mutex;
    static std::vector<const void*>* kept = nullptr;
    const std::scoped_lock lock{mutex};
    try {
        if (kept == nullptr) kept = std::make_unique<std::vector<const void*>>().release();
        kept->push_back(object);
    } catch (const std::bad_alloc&) {  // then it is not found
    }
}

BeforeExit::BeforeExit() noexcept {
    work().lock_shared();
    is_early_ = !is_too_late;
}

BeforeExit::~BeforeExit() {
    work().unlock_shared();
}

void BeforeExit::watch() {
    [[maybe_unused]] static const bool is_watched = std::atexit(end_work) == 0;
}

}  // namespace mortise::storage
