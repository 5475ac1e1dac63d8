// A flash sale: many sellers on three nodes, and one stock that is never sold twice. Under one lock
// they would sell one piece at a time. So the stock is split into segments, each with its own lock,
// and a seller takes any segment that is free.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <mortise/mortise.hpp>
#include <mortise/testkit/local_cluster.hpp>

using namespace std::chrono_literals;

namespace {

constexpr int nodes = 3;
constexpr int sellers = 4;  // on each node
constexpr int stock = 96;

// The stock, in a database that reads and writes in two steps. Only the locks keep two sellers from
// reading the same number.
class Stock {
public:
    explicit Stock(int segments) : left_(static_cast<std::size_t>(segments)) {
        for (auto& left : left_)
            left = stock / segments;
    }

    // Sells one piece of a segment; false if there is none left.
    bool sell(int segment) {
        auto& left = left_.at(static_cast<std::size_t>(segment));
        const int seen = left;
        std::this_thread::sleep_for(2ms);  // takes the money
        if (seen > 0) left = seen - 1;
        return seen > 0;
    }

private:
    std::vector<std::atomic<int>> left_;
};

std::string name_of(int segment) {
    return "sale/shoes/" + std::to_string(segment);
}

// Sells until nothing is left, and returns how much that was. The list begins elsewhere for each
// seller, so that they do not all want the same segment first.
int sell_all(mortise::Node& node, Stock& stock_left, std::vector<int> segments) {
    int sold = 0;
    while (!segments.empty()) {
        std::vector<mortise::LockRequest> names;
        for (const int segment : segments)
            names.push_back({name_of(segment)});
        auto hold = node.try_acquire_any(names);
        if (!hold) hold = node.acquire_any(names);  // all are busy: the first that becomes free
        const auto found = std::ranges::find_if(
            segments, [&](int segment) { return name_of(segment) == hold->name(); });
        if (stock_left.sell(*found))
            ++sold;
        else
            segments.erase(found);  // this one is sold out
    }
    return sold;
}

// How many pieces are sold, and in which time, with so many segments.
int sale(mortise::testkit::LocalCluster& cluster, int segments) {
    Stock stock_left{segments};
    std::atomic<int> sold = 0;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::jthread> crowd;
    for (int seller = 0; seller < nodes * sellers; ++seller)
        crowd.emplace_back([&node = cluster.node(static_cast<std::size_t>(seller % nodes)),
                            &stock_left, &sold, segments, seller] {
            std::vector<int> mine(static_cast<std::size_t>(segments));
            std::iota(mine.begin(), mine.end(), 0);
            std::ranges::rotate(mine, mine.begin() + seller % segments);
            sold += sell_all(node, stock_left, std::move(mine));
        });
    crowd.clear();  // waits for them
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%d segment(s): %d of %d sold in %.2f s\n", segments, sold.load(), stock,
                took.count());
    return sold;
}

}  // namespace

int main() {
    mortise::testkit::LocalCluster cluster{nodes};
    const int with_one = sale(cluster, 1);
    const int with_eight = sale(cluster, 8);
    return with_one == stock && with_eight == stock ? 0 : 1;
}
