// Three workers prepare something, each on whichever node it runs. Nobody begins before all are
// ready: a latch counts them, and the count of a worker stays when its process dies. Then they work
// in steps, and meet at a barrier after each: nobody begins a step before all have done the one
// before it. If one of them died, the others would get session_expired instead of waiting for ever.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>

int main() {
    using namespace std::chrono_literals;
    constexpr int workers = 3;
    constexpr int steps = 4;
    mortise::Node node{mortise::Config::in_memory()};
    std::atomic<int> prepared{0};
    std::atomic<int> done{0};
    std::atomic<int> early{0};
    {
        const auto work = [&] {
            mortise::Latch ready{node, "import/ready", workers};
            ++prepared;               // load the data
            ready.arrive_and_wait();  // count_down(), and wait until all have counted
            if (prepared != workers) ++early;

            mortise::Barrier step{node, "import/step", workers};
            for (int i = 1; i <= steps; ++i) {
                ++done;  // a piece of the work
                step.arrive_and_wait({.wait_max = 1min});
                if (done < i * workers) ++early;
            }
            step.arrive_and_drop();  // without this, the end of the process breaks the barrier
        };
        std::vector<std::jthread> all;
        for (int i = 0; i < workers; ++i)
            all.emplace_back(work);
    }
    mortise::Latch ready{node, "import/ready", workers};
    std::printf("all are ready: %s\n", ready.try_wait() ? "yes" : "no");
    const auto barrier = node.inspect("import/step").barrier;
    std::printf("phases of the barrier: %d\n", barrier ? static_cast<int>(barrier->number) : 0);

    // A latch is used once. Without this it would stay open for everybody who comes later.
    node.remove("import/ready");
    const bool is_new = !ready.wait_for(10ms);
    std::printf("%d were early\n", early.load());
    return early == 0 && is_new && barrier && barrier->number == steps + 1 ? 0 : 1;
}
