#include "bench/floor/desk.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <sys/eventfd.h>
#include <unistd.h>

namespace mortise::bench {

Desk::Desk() : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    if (event_ < 0) throw std::system_error{errno, std::system_category(), "eventfd"};
}

Desk::~Desk() {
    ::close(event_);
}

void Desk::commit(const Command& command) {
    Waiting waiting;
    put(command, &waiting);
    std::unique_lock lock{waiting.mutex};
    waiting.ended.wait(lock, [&] { return waiting.done; });
    if (waiting.failed) throw std::runtime_error{"the log of the floor has ended"};
}

void Desk::submit(const Command& command) {
    put(command, nullptr);
}

void Desk::put(const Command& command, Waiting* waiting) {
    const std::scoped_lock lock{mutex_};
    if (failed_) throw std::runtime_error{"the log of the floor has ended"};
    if (bytes_.empty()) ::eventfd_write(event_, 1);
    bytes_.insert(bytes_.end(), command.bytes.begin(), command.bytes.end());
    waiting_.push_back(waiting);
}

void Desk::take(std::vector<char>& bytes) {
    const std::scoped_lock lock{mutex_};
    if (bytes_.empty()) return;
    eventfd_t count = 0;
    ::eventfd_read(event_, &count);
    bytes.insert(bytes.end(), bytes_.begin(), bytes_.end());
    bytes_.clear();
}

void Desk::done(std::size_t commands) {
    for (; commands != 0; --commands) {
        Waiting* waiting = nullptr;
        {
            const std::scoped_lock lock{mutex_};
            waiting = waiting_.front();
            waiting_.pop_front();
        }
        tell(waiting, false);
    }
}

void Desk::fail() {
    const std::scoped_lock lock{mutex_};
    failed_ = true;
    for (auto* waiting : waiting_)
        tell(waiting, true);
    waiting_.clear();
}

// Notifies under the lock: the waiting thread destroys the object as soon as it has it.
void Desk::tell(Waiting* waiting, bool failed) {
    if (waiting == nullptr) return;
    const std::scoped_lock lock{waiting->mutex};
    waiting->done = true;
    waiting->failed = failed;
    waiting->ended.notify_one();
}

}  // namespace mortise::bench
