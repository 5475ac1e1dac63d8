// Starts threads of the library, which have names and receive none of the host's signals.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>

#include "storage/base/host.hpp"
#include "storage/base/own_thread.hpp"

namespace mortise::detail {

// Reports which thread could not be started, and the limits of their number.
[[noreturn]] inline void cannot_start(const std::string& name, const std::system_error& error) {
    throw std::system_error{error.code(),
                            "cannot start the thread " + name + storage::thread_limits()};
}

// Throws std::system_error if no thread can be started. Names longer than 15 bytes are cut.
template <class Body>
std::thread start_thread_named(const std::string& name, Body body) {
    std::thread thread;
    try {
        const storage::BlockedSignals none;
        thread = std::thread{std::move(body)};
    } catch (const std::system_error& error) {
        cannot_start(name, error);
    }
    pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
    return thread;
}

// Retried, because memory may be available a moment later, and a node without this report would
// hang.
template <class Fail>
void report_failure(Fail& fail, const char* why) noexcept {
    constexpr int tries_max = 20;
    for (int tries = 0; tries < tries_max; ++tries) {
        try {
            return fail(std::string{why});
        } catch (...) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }
}

// The body of a thread that serves a node. An exception that escapes it, such as std::bad_alloc,
// ends the node and not the host: fail(why) is called once.
template <class Body, class Fail>
void run_or_fail(Body body, Fail fail) noexcept {
    try {
        body();
    } catch (const std::exception& error) {
        report_failure(fail, error.what());
    } catch (...) {
        report_failure(fail, "an unknown exception");
    }
}

}  // namespace mortise::detail
