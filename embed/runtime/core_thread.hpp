// The core thread of a node: its loop, and how other threads reach it.
#pragma once

#include <functional>
#include <thread>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include "embed/threads/questions.hpp"

namespace mortise::detail {

// Thread-safe, except start() and join().
class CoreThread {
public:
    [[nodiscard]] asio::io_context& io() { return io_; }
    // Runs `task` on the thread, after what was posted before, by whichever thread.
    template <class Task>
    void post(Task task) {
        asio::post(io_, std::move(task));
    }
    // What other threads ask the core thread.
    [[nodiscard]] Questions& questions() { return questions_; }
    [[nodiscard]] bool is_own() { return io_.get_executor().running_in_this_thread(); }

    // `run` runs the loop until it is stopped. Throws std::system_error if no thread can be
    // started.
    void start(std::function<void()> run);
    // From start() to join().
    [[nodiscard]] bool is_started() const { return thread_.joinable(); }
    // The loop ends after the task that runs now. Allocates nothing.
    void stop() {
        work_.reset();
        io_.stop();
    }
    void join() { thread_.join(); }

private:
    // the loop of the thread. If Asio is told that there is one thread, it keeps what that thread
    // posts until the present task ends, behind what other threads post meanwhile.
    asio::io_context io_{ASIO_CONCURRENCY_HINT_DEFAULT};
    // keeps the loop running while nothing is posted: until stop()
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    // what is asked: answered by the loop
    Questions questions_{[this] { post([this] { questions_.answer_all(); }); }};
    // runs the loop: from start() to join()
    std::thread thread_;
};

}  // namespace mortise::detail
