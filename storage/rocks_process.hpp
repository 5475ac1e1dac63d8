// What RocksDB has for the process as a whole, a timer with a thread for one, is destroyed in
// exit(), which runs while the threads of a node may still be at work. To open or close a database
// after that ends the process by SIGABRT, instead of with the status that it means.
#pragma once

#include <memory>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/status.h>

namespace mortise::storage {

// While it lives exit() waits before it comes to those, for five seconds at most: a disk may hang.
class BeforeExit {
public:
    BeforeExit() noexcept;
    ~BeforeExit();
    BeforeExit(const BeforeExit&) = delete;
    BeforeExit& operator=(const BeforeExit&) = delete;

    // False when exit() is on its way to them already.
    explicit operator bool() const noexcept { return is_early_; }

    // From now on exit() is watched: what was there before the call is destroyed later.
    static void watch() noexcept;

private:
    bool is_early_;
};

// While it lives nobody else opens a database, if none was opened yet. The first one makes
// RocksDB's timer somewhere on its way, which exit() destroys before it comes to whoever watched
// earlier.
class FirstOpening {
public:
    // RocksDB's environment is there by now.
    FirstOpening();
    ~FirstOpening();
    FirstOpening(const FirstOpening&) = delete;
    FirstOpening& operator=(const FirstOpening&) = delete;

    // Called with each file that is opened: from there on exit() is watched, if it is the first.
    static void go_on() noexcept;

private:
    bool is_alone_ = false;
};

// Opens a database, unless the process ends.
template <class Open>
rocksdb::Status open_before_exit(Open open) {
    const BeforeExit early;
    if (!early) return rocksdb::Status::ShutdownInProgress("the process ends");
    const FirstOpening first;
    return open();
}

// For what is left: a tool that looks for leaks finds it here.
void keep_for_good(const void* object) noexcept;

// What is not destroyed in time is left as it is, like in a process that is killed.
struct DestroyBeforeExit {
    template <class Object>
    void operator()(Object* object) const {
        if (const BeforeExit early; early) {
            std::default_delete<Object>{}(object);
        } else {
            keep_for_good(object);
        }
    }
};

template <class Object>
using GoneBeforeExit = std::unique_ptr<Object, DestroyBeforeExit>;

}  // namespace mortise::storage
