// Threads of the library, which the host does not notice.
#pragma once

#include <csignal>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include <pthread.h>

#include "storage/base/errors.hpp"
#include "storage/base/host.hpp"

namespace mortise::storage {

// While it lives, no signal of the host is delivered to this thread, nor to threads that are
// started meanwhile, which inherit the mask. Signals that a thread causes itself, for example by a
// wild pointer, are left to the host's handlers, which may report them.
class BlockedSignals {
public:
    BlockedSignals() noexcept {
        sigset_t blocked;
        sigfillset(&blocked);
        for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
            sigdelset(&blocked, own);
        pthread_sigmask(SIG_SETMASK, &blocked, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t before_;
};

// Runs `body` on a new thread and returns its Result. Threads that RocksDB starts when it opens a
// database inherit this thread's signal mask. Its stack has the usual size, whatever that of the
// host's thread is.
template <class Body>
std::invoke_result_t<Body> on_own_thread(Body body) {
    std::packaged_task<std::invoke_result_t<Body>()> task{std::move(body)};
    auto answer = task.get_future();
    std::thread thread;
    try {
        const BlockedSignals none;
        thread = std::thread{[&task] { task(); }};
    } catch (const std::system_error& failed) {
        return make_error(Errc::shortage, "cannot start a thread" + thread_limits() + ": " +
                                              failed.code().message());
    }
    pthread_setname_np(thread.native_handle(), "mortise-open");
    thread.join();
    return answer.get();
}

}  // namespace mortise::storage
