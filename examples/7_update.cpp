// Reads first, and writes only if necessary. A worker that may write reads in update mode: readers
// are let in meanwhile, but only one update holder, so that it can become exclusive without a
// deadlock. Two workers that read in shared mode would each wait until the other has finished
// reading.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>

namespace {

using mortise::LockMode;

struct Cache {
    mortise::Node node{mortise::Config::in_memory()};
    std::string value;
    int computed = 0;

    std::string get() {
        {
            const auto reader = node.acquire("cache", {.mode = LockMode::shared});
            if (!value.empty()) return value;
        }
        auto hold = node.acquire("cache", {.mode = LockMode::update});
        if (value.empty()) {  // nobody has filled it
            hold.upgrade();  // waits for the readers; now there are no others, and the token is new
            value = "computed";
            ++computed;
            hold.downgrade(LockMode::shared);  // readers are let in, and the hold stays ours
        }
        return value;
    }
};

}  // namespace

int main() {
    Cache cache;
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 8; ++i)
            crowd.emplace_back([&cache] { cache.get(); });
    }
    std::printf("eight asked, and it was computed %d time(s)\n", cache.computed);
    return cache.computed == 1 ? 0 : 1;
}
