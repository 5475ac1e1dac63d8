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

// Never destroyed, because late threads use it.
std::shared_timed_mutex& work() {
    static auto& mutex = *new std::shared_timed_mutex;
    return mutex;
}

std::atomic<bool> was_opened{false};

std::timed_mutex& first_turn() {
    static auto& mutex = *new std::timed_mutex;
    return mutex;
}

// The time that closing a node waits, too. It is limited, since a disk may be unresponsive, and a
// fork copies locks that other threads hold.
constexpr std::chrono::seconds patience{5};

void end_work() {
    const bool is_alone = work().try_lock_for(patience);
    is_too_late = true;
    if (is_alone) work().unlock();
}

// Registered before main(), as the only object of this kind: a thread may open the first database
// while exit() is running. RocksDB's library was initialized before, so it is destroyed after this.
[[maybe_unused]] const int watched_from_the_start = std::atexit(end_work);

}  // namespace

void keep_for_good(const void* object) noexcept {
    static std::mutex mutex;
    static std::vector<const void*>* kept = nullptr;
    const std::scoped_lock lock{mutex};
    try {
        if (kept == nullptr) kept = std::make_unique<std::vector<const void*>>().release();
        kept->push_back(object);
    } catch (const std::bad_alloc&) {  // then a leak checker does not find it
    }
}

BeforeExit::BeforeExit() noexcept {
    work().lock_shared();
    is_early_ = !is_too_late;
}

BeforeExit::~BeforeExit() {
    work().unlock_shared();
}

void BeforeExit::watch() noexcept {
    std::atexit(end_work);  // fails only without memory; then exit() does not wait
}

FirstOpening::FirstOpening() {
    if (was_opened) return;
    alone_ = std::unique_lock{first_turn(), patience};
    if (!was_opened) BeforeExit::watch();
}

void FirstOpening::go_on() noexcept {
    if (!was_opened) BeforeExit::watch();
}

FirstOpening::~FirstOpening() {
    if (!was_opened.exchange(true)) BeforeExit::watch();
}

}  // namespace mortise::storage
