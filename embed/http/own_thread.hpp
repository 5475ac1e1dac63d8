// Threads of the console and the door: they have names, and receive none of the host's signals.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

namespace mortise::http {

// Throws std::system_error if no thread can be started. Names longer than 15 bytes are not set.
template <class Body>
std::thread start_thread(const char* name, Body body) {
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread;
    try {
        thread = std::thread{std::move(body)};
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread.native_handle(), name);
    return thread;
}

}  // namespace mortise::http
