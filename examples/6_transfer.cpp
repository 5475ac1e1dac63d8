// Two locks at once: money moves between accounts in both directions. If the locks are acquired one
// after the other, two transfers may each hold the account that the other one waits for. Two
// lockers that do so are told of the deadlock. acquire_all() avoids it: it acquires all or none,
// whatever the order of the names.
#include <array>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>

namespace {

constexpr int accounts = 4;
constexpr int workers = 4;
constexpr int transfers = 50;  // for each worker

std::string name_of(int account) {
    return "account/" + std::to_string(account);
}

struct Bank {
    mortise::Node node{mortise::Config::in_memory()};
    std::array<int, accounts> balances{100, 100, 100, 100};

    void transfer(int from, int to, int amount) {
        const auto holds = node.acquire_all({name_of(from), name_of(to)});
        // ... a real write carries holds.find(name)->token(), the token of its own account
        balances.at(from) -= amount;
        balances.at(to) += amount;
    }  // both are released in one command
};

// The wrong way: two threads, each with one of the accounts, want that of the other. Returns how
// many of them were refused.
int acquire_one_by_one(mortise::Node& node) {
    std::barrier both_have_one{2};
    std::atomic<int> refused{0};
    const auto worker = [&](const char* label, int first, int second) {
        const mortise::Locker locker{node, label};  // without a locker, both would wait for ever
        const auto one = node.acquire(name_of(first), {.locker = locker});
        both_have_one.arrive_and_wait();
        try {
            const auto other = node.acquire(name_of(second), {.locker = locker});
        } catch (const mortise::LockError& error) {
            if (error.code() != mortise::Errc::deadlock) throw;
            std::printf("%s\n", error.what());
            ++refused;
        }
    };  // here the refused one gives up what it has, and the other one is granted both
    {
        const std::jthread there{worker, "Ann", 0, 1};
        const std::jthread back{worker, "Bob", 1, 0};
    }
    return refused;
}

}  // namespace

int main() {
    Bank bank;
    const int refused = acquire_one_by_one(bank.node);
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
    std::printf("one by one, %d of 2 refused\n", refused);
    std::printf("%d transfers at once, and the money is still %d\n", workers * transfers, total);
    return refused == 1 && total == accounts * 100 ? 0 : 1;
}
