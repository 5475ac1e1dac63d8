// At most two workers use a service at once, on whichever nodes they run. A worker's permit is a
// slot with a number, here that of a connection: nobody else has it meanwhile. A worker may be
// paused between its last check and its write, so the write goes through a gate. The gate compares
// the tokens of each slot: a newer holder of one slot does not refuse the present holder of
// another.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <mortise/mortise.hpp>

int main() {
    const auto directory =
        std::filesystem::temp_directory_path() / ("mortise-example-" + std::to_string(getpid()));
    mortise::Node node{mortise::Config::in_memory()};
    std::atomic<int> busy{0};
    std::atomic<int> most{0};
    std::atomic<int> written{0};
    bool late = true;
    {
        auto gate = mortise::FenceGate::open(directory);
        const auto work = [&] {
            mortise::Semaphore connections{node, "service/connections", 2};
            const auto hold = connections.acquire();  // waits until one of the two is free
            const auto now = ++busy;
            auto seen = most.load();
            while (seen < now && !most.compare_exchange_weak(seen, now)) {
            }
            const auto [slot, token] = hold.slots().front();
            if (gate.admit("service", slot, token, [&] { ++written; }))
                std::printf("connection %u, token %s\n", slot, to_string(token).c_str());
            --busy;
        };
        {
            std::vector<std::jthread> workers;
            for (int i = 0; i < 6; ++i)
                workers.emplace_back(work);
        }

        // This one has lost its permit, and does not know yet.
        mortise::Semaphore connections{node, "service/connections", 2};
        auto paused = connections.acquire();
        const auto former = paused.slots().front();
        paused.unlock();
        const auto both = connections.acquire(2);
        for (const auto& [slot, token] : both.slots())
            gate.admit("service", slot, token, [&] { ++written; });
        late = gate.admit("service", former.number, former.token, [&] { ++written; });
        std::printf("the paused one writes: %s\n", late ? "yes" : "no");
    }
    std::filesystem::remove_all(directory);
    std::printf("at most %d at once\n", most.load());
    return most <= 2 && written == 8 && !late ? 0 : 1;
}
