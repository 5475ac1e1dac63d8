// Two locks at once: money moves between accounts in both directions, and nobody waits for ever.
// One after the other they would: whoever has the first account waits for the second, which the
// other one has. acquire_all() has all of them or none, in any order of the names.
#include <array>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>

namespace {

constexpr int accounts = 4;
constexpr int workers = 4;
constexpr int transfers = 50;  // of each worker

struct Bank {
    mortise::Node node{mortise::Config::in_memory()};
    std::array<int, accounts> balances{100, 100, 100, 100};

    void transfer(int from, int to, int amount) {
        const auto holds =
            node.acquire_all({"account/" + std::to_string(from), "account/" + std::to_string(to)});
        // ... with what is written goes holds.find(name)->token(), each account's own
        balances.at(from) -= amount;
        balances.at(to) += amount;
    }  // both go back, in one command
};

}  // namespace

int main() {
    Bank bank;
    {
        std::vector<std::jthread> crowd;
        for (int worker = 0; worker < workers; ++worker)
            crowd.emplace_back([&bank, worker] {
                for (int i = 0; i < transfers; ++i)
                    bank.transfer((worker + i) % accounts, (worker + 3 * i + 1) % accounts, i);
            });
    }
    int total = 0;
    for (const int balance : bank.balances)
        total += balance;
    std::printf("%d transfers, and the money is still %d\n", workers * transfers, total);
    return total == accounts * 100 ? 0 : 1;
}
