// exit() destroys what RocksDB has for the whole process, such as a timer with a thread, while
// threads of a node may still run. Opening or closing a database after that would end the process
// with SIGABRT instead of its own exit status.
#pragma once

#include <memory>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/status.h>

namespace mortise::storage {

// While it lives, exit() waits before it destroys them, for five seconds at most, because a disk
// may be unresponsive.
class BeforeExit {
public:
    BeforeExit() noexcept;
    ~BeforeExit();
    BeforeExit(const BeforeExit&) = delete;
    BeforeExit& operator=(const BeforeExit&) = delete;

    // False if exit() has begun to destroy them.
    explicit operator bool() const noexcept { return is_early_; }

    // Registers with exit(): objects that existed before the call are destroyed later.
    static void watch() noexcept;

private:
    bool is_early_;
};

// While it lives no other thread opens a database, if none was opened yet. Opening the first one
// creates RocksDB's timer, which exit() destroys before it calls functions that were registered
// earlier.
class FirstOpening {
public:
    // RocksDB's environment exists from here on.
    FirstOpening();
    ~FirstOpening();
    FirstOpening(const FirstOpening&) = delete;
    FirstOpening& operator=(const FirstOpening&) = delete;

    // Called for each file that is opened: the first one registers with exit().
    static void go_on() noexcept;

private:
    bool is_alone_ = false;
};

// Opens a database, unless the process is ending.
template <class Open>
rocksdb::Status open_before_exit(Open open) {
    const BeforeExit early;
    if (!early) return rocksdb::Status::ShutdownInProgress("the process ends");
    const FirstOpening first;
    return open();
}

// Keeps an object that is never destroyed where a leak checker finds it.
void keep_for_good(const void* object) noexcept;

// What is not destroyed in time is left as it is, as in a process that is killed.
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
