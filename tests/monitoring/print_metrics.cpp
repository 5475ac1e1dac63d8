// Prints the text for Prometheus of two real nodes, one of them with TLS in its numbers, so that
// every metric has a sample.
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>

#include <mortise/mortise.hpp>

namespace {

using namespace std::chrono_literals;

void print_metrics() {
    auto config = mortise::Config::in_memory();
    config.observability.prefixes = {"orders/"};
    mortise::Node node{config};
    if (!node.wait_ready(std::chrono::steady_clock::now() + 30s)) throw std::runtime_error{"alone"};
    node.acquire("x", {.caching = mortise::Caching::off}).unlock();
    std::array readings{mortise::NodeReading{node.status(), node.metrics()},
                        mortise::NodeReading{node.status(), node.metrics()}};
    readings[1].status.id = 2;
    readings[1].metrics.certificate_left = 24h;
    std::fputs(mortise::prometheus_text(readings).c_str(), stdout);
}

}  // namespace

int main() {
    try {
        print_metrics();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
