// Look first, write only if need be. Everybody who may come to write looks in update mode: readers
// are let in meanwhile, and only one such looker, so that it can become exclusive without a
// deadlock. Two who looked in shared mode would wait for each other's reading to end.
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
        if (value.empty()) {  // nobody else filled it meanwhile
            hold.upgrade();   // waits for the readers; from here on nobody looks, and the token is
                              // new
            value = "computed";
            ++computed;
            hold.downgrade(LockMode::shared);  // readers may come, and this is still ours
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
