// A program whose Asio has other settings than that of the library, which are in its types.
#include <chrono>
#include <cstdio>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_future.hpp>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

int main() {
    asio::io_context context;
    auto work = asio::make_work_guard(context);
    std::thread loop{[&] { context.run(); }};

    mortise::Node node{mortise::Config::from_string(
        "node_id = 1\nlisten = \"127.0.0.1:0\"\ndata_dir = \"other_asio\"\n")};
    auto hold = mortise::async_acquire(node, "consume", asio::use_future).get();

    asio::steady_timer timer{context, std::chrono::milliseconds{10}};
    timer.async_wait(asio::use_future).get();
    asio::ip::tcp::resolver resolver{context};
    const auto found = resolver.async_resolve("localhost", "1", asio::use_future).get();
    asio::signal_set signals{context, SIGUSR1};
    asio::post(context, [&] { signals.cancel(); });

    const bool is_held = hold.valid();
    mortise::async_release(std::move(hold), asio::use_future).get();
    work.reset();
    loop.join();
    std::printf("held: %d, addresses: %zu\n", is_held ? 1 : 0, found.size());
    return is_held && !found.empty() ? 0 : 1;
}
