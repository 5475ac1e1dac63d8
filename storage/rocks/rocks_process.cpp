#include "storage/rocks/rocks_process.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace mortise::storage {

namespace {

// These are never destroyed, since threads may read them after exit() has destroyed other objects.
// They are atomics instead of locks: a fork would copy a lock that another thread holds, and the
// thread sanitizer of g++ 12 does not know locks with a timeout.
std::atomic<bool> is_too_late{false};
std::atomic<int> at_work{0};
std::atomic<bool> was_opened{false};
std::atomic<bool> first_opens{false};

// As long as a node waits when it is closed. The wait is limited, because a disk may hang, and
// because a fork copies the count of work that other threads had in progress.
constexpr std::chrono::seconds patience{5};

template <class Condition>
void wait_for(Condition condition) {
    constexpr std::chrono::milliseconds glance{1};
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!condition() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(glance);
}

// No new work begins once it is too late, so the count that exit() waits for only falls.
void end_work() {
    is_too_late = true;
    wait_for([] { return at_work == 0; });
}

// Registers with exit() before main(), because a thread may open the first database while exit()
// runs. RocksDB's library was initialized earlier, so it is destroyed after this object. A
// destructor also runs when a plug-in is unloaded; so does a function registered with atexit(), but
// under the thread sanitizer only at the end of the process, when its code is gone.
class FromTheStart {
public:
    constexpr FromTheStart() = default;
    ~FromTheStart() { end_work(); }
    FromTheStart(const FromTheStart&) = delete;
    FromTheStart& operator=(const FromTheStart&) = delete;
};
[[maybe_unused]] const FromTheStart watched_from_the_start;

}  // namespace

void keep_for_good(const void* object) noexcept {
    static std::mutex mutex;
    static std::vector<const void*>* kept = nullptr;
    const std::scoped_lock lock{mutex};
    try {
        if (kept == nullptr) kept = std::make_unique<std::vector<const void*>>().release();
        kept->push_back(object);
    } catch (const std::bad_alloc&) {  // the leak checker does not find the object then
    }
}

// The constructor counts first and reads the flag then; end_work() does so in reverse. So at least
// one of them sees the other.
BeforeExit::BeforeExit() noexcept {
    ++at_work;
    is_early_ = !is_too_late;
    if (!is_early_) --at_work;
}

BeforeExit::~BeforeExit() {
    if (is_early_) --at_work;
}

void BeforeExit::watch() noexcept {
    std::atexit(end_work);  // fails only without memory, and then exit() does not wait
}

FirstOpening::FirstOpening() {
    wait_for([this] {
        if (!was_opened) is_alone_ = !first_opens.exchange(true);
        return was_opened || is_alone_;
    });
    if (!was_opened) BeforeExit::watch();
}

void FirstOpening::go_on() noexcept {
    if (!was_opened) BeforeExit::watch();
}

FirstOpening::~FirstOpening() {
    if (!was_opened.exchange(true)) BeforeExit::watch();
    if (is_alone_) first_opens = false;
}

}  // namespace mortise::storage
