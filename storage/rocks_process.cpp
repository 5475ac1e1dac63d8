#include "storage/rocks_process.hpp"

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

// Nothing destroys these, since whoever is late looks at them. They are no locks: a fork would copy
// one that another thread has locked, and the thread sanitizer of g++ 12 does not know the locks
// whose waiting has a limit.
std::atomic<bool> is_too_late{false};
std::atomic<int> at_work{0};
std::atomic<bool> was_opened{false};
std::atomic<bool> first_opens{false};

// As long as a node waits for its end. There is an end to it: a disk may hang, and a fork copies
// what others were at.
constexpr std::chrono::seconds patience{5};

template <class Condition>
void wait_for(Condition condition) {
    constexpr std::chrono::milliseconds glance{1};
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!condition() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(glance);
}

// Nobody begins once it is too late, so those that exit() waits for become fewer.
void end_work() {
    is_too_late = true;
    wait_for([] { return at_work == 0; });
}

// Before main(), as the only thing of its kind: a thread may open the first database while exit()
// is on its way. RocksDB's library was there before, so it ends behind this. A destructor is called
// when a plug-in is unloaded as well; what atexit() was told is too, but not with the thread
// sanitizer, which calls it at the end, when its code is gone.
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
    } catch (const std::bad_alloc&) {  // then it is not found
    }
}

// It is counted first and looks then, and end_work() does so the other way round: one of them sees
// the other.
BeforeExit::BeforeExit() noexcept {
    ++at_work;
    is_early_ = !is_too_late;
    if (!is_early_) --at_work;
}

BeforeExit::~BeforeExit() {
    if (is_early_) --at_work;
}

void BeforeExit::watch() noexcept {
    std::atexit(end_work);  // fails for want of memory only, and then exit() is as it was
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
