// Two locks at once: money moves between accounts in both directions without a deadlock. If the
// locks were acquired one after the other, two transfers could each hold the account that the other
// waits for. acquire_all() acquires all or none, whatever the order of the names.
#include <array>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>

namespace {

constexpr int accounts = 4;
constexpr int workers = 4;
constexpr int transfers = 50;  // for each worker

struct Bank {
    mortise::Node node{mortise::Config::in_memory()};
    std::array<int, accounts> balances{100, 100, 100, 100};

    void transfer(int from, int to, int amount) {
        const auto holds =
            node.acquire_all({"account/" + std::to_string(from), "account/" + std::to_string(to)});
        // ... a real write carries holds.find(name)->token(), the token of its own account
        balances.at(from) -= amount;
        balances.at(to) += amount;
    }  // both are released in one command
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
