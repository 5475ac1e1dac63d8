// A value that is read all the time and changed now and then, with a copy on every node. The shared
// lock tells whether the copy is current: a writer takes a greater token than all readers before
// it, and readers after it get a greater one again. So the same token means that nobody has written
// since the copy was made.
//
// A node keeps its shared grant until a writer asks for it (AcquireOptions::caching), so most reads
// ask nobody.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>
#include <mortise/testkit/local_cluster.hpp>

using namespace std::chrono_literals;

namespace {

constexpr std::size_t nodes = 3;
constexpr int readers = 2;  // on each node
constexpr int reads = 300;  // of each reader
constexpr int writes = 5;

// Somewhere far away, and slow.
struct Store {
    std::atomic<int> value = 0;
    std::atomic<int> loads = 0;

    int load() {
        ++loads;
        std::this_thread::sleep_for(5ms);
        return value;
    }
};

// The copy of one node.
class Cache {
public:
    Cache(mortise::Node& node, Store& store) : node_{node}, store_{store} {}

    // True if what it returned was what the store had.
    bool read() {
        const auto hold = node_.acquire("prices", {.mode = mortise::LockMode::shared});
        const std::scoped_lock lock{mutex_};  // for the threads of this node
        if (hold.token() != token_) {
            copy_ = store_.load();
            token_ = hold.token();
        }
        return copy_ == store_.value;  // it cannot change while we have the lock
    }
    void write(int value) {
        const auto hold = node_.acquire("prices");  // exclusive: waits for all readers
        // ... a real write carries hold.token()
        store_.value = value;
    }

private:
    mortise::Node& node_;
    Store& store_;
    std::mutex mutex_;
    mortise::FencingToken token_;
    int copy_ = 0;
};

}  // namespace

int main() {
    mortise::testkit::LocalCluster cluster{nodes};
    Store store;
    std::vector<std::unique_ptr<Cache>> caches;
    for (std::size_t node = 0; node < nodes; ++node)
        caches.push_back(std::make_unique<Cache>(cluster.node(node), store));

    std::atomic<int> stale = 0;
    {
        std::vector<std::jthread> crowd;
        for (const auto& cache : caches)
            for (int reader = 0; reader < readers; ++reader)
                crowd.emplace_back([&cache, &stale] {
                    for (int i = 0; i < reads; ++i) {
                        if (!cache->read()) ++stale;
                        std::this_thread::sleep_for(1ms);
                    }
                });
        for (int value = 1; value <= writes; ++value) {
            std::this_thread::sleep_for(50ms);
            caches.front()->write(value);
        }
    }
    std::uint64_t local = 0;
    for (std::size_t node = 0; node < nodes; ++node)
        local += cluster.node(node).metrics().served_from_cache;
    std::printf("%d reads, %d writes: %d loads from the store, %llu acquires without the cluster\n",
                static_cast<int>(nodes) * readers * reads, writes, store.loads.load(),
                static_cast<unsigned long long>(local));
    std::printf("%d reads were stale\n", stale.load());
    return stale == 0 && store.value == writes ? 0 : 1;
}
