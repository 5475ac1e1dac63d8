// Two coroutines of one thread have a lock in turn.
#include <cstdio>
#include <exception>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

namespace {

asio::awaitable<void> worker(mortise::Node& node, int& done) {
    auto hold = co_await mortise::async_acquire(node, "consume", asio::use_awaitable);
    if (hold.valid()) ++done;
    co_await mortise::async_release(std::move(hold), asio::use_awaitable);
}

}  // namespace

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    asio::io_context context;
    int done = 0;
    for (int i = 0; i < 2; ++i) {
        asio::co_spawn(context, worker(node, done), [](const std::exception_ptr& problem) {
            if (problem) std::rethrow_exception(problem);
        });
    }
    context.run();
    std::printf("%d coroutines had the lock\n", done);
    return done == 2 ? 0 : 1;
}
