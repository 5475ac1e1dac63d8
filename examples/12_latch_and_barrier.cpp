// Three workers prepare something, each on whichever node it runs. Nobody begins before all are
// ready: a latch counts them, and the count of a worker stays when its process dies.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>

int main() {
    using namespace std::chrono_literals;
    constexpr int workers = 3;
    mortise::Node node{mortise::Config::in_memory()};
    std::atomic<int> prepared{0};
    std::atomic<int> early{0};
    {
        const auto work = [&] {
            mortise::Latch ready{node, "import/ready", workers};
            ++prepared;               // load the data
            ready.arrive_and_wait();  // count_down(), and wait until all have counted
            if (prepared != workers) ++early;
        };
        std::vector<std::jthread> all;
        for (int i = 0; i < workers; ++i)
            all.emplace_back(work);
    }
    mortise::Latch ready{node, "import/ready", workers};
    std::printf("all are ready: %s\n", ready.try_wait() ? "yes" : "no");

    // A latch is used once. Without this it would stay open for everybody who comes later.
    node.remove("import/ready");
    const bool is_new = !ready.wait_for(10ms);
    std::printf("%d were early\n", early.load());
    return early == 0 && is_new ? 0 : 1;
}
