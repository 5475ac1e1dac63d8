// Two coroutines on one thread take turns. The options and names are variables, because g++ 12
// destroys temporaries of aggregates in a co_await expression while they are still in use.
#include <cstdio>
#include <exception>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

namespace {

asio::awaitable<void> worker(mortise::Node& node, int number, int& done) {
    const mortise::AcquireOptions options{.label = "worker " + std::to_string(number)};
    for (int round = 1; round <= 3; ++round) {
        auto hold = co_await mortise::async_acquire(node, "queue", options, asio::use_awaitable);
        std::printf("worker %d, round %d, token %s\n", number, round,
                    to_string(hold.token()).c_str());
        co_await mortise::async_release(std::move(hold), asio::use_awaitable);
    }
    ++done;
}

}  // namespace

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    asio::io_context io;
    int done = 0;
    for (int number = 1; number <= 2; ++number) {
        asio::co_spawn(io, worker(node, number, done), [](std::exception_ptr failure) {
            if (failure) std::rethrow_exception(failure);
        });
    }
    io.run();
    return done == 2 ? 0 : 1;
}
