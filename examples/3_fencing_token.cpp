// Why a token. No lock service can stop a holder that was paused: between its last look at
// hold.valid() and its write anything may happen. So the write carries the token, and what is
// written to refuses one that is older than the newest it has seen. In SQL the same rule is one
// statement:
//
//   UPDATE account SET balance = ?, token = ? WHERE id = ? AND token <= ?
#include <cstdio>

#include <mortise/mortise.hpp>

namespace {

// A resource that knows the rule. A real one keeps the token beside the data, durably.
class Account {
public:
    bool write(int balance, mortise::FencingToken token) {
        if (token < newest_) return false;
        newest_ = token;
        balance_ = balance;
        return true;
    }
    [[nodiscard]] int balance() const { return balance_; }

private:
    int balance_ = 0;
    mortise::FencingToken newest_;
};

}  // namespace

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    Account account;

    auto first = node.acquire("account/7");
    const auto paused = first.token();  // the first holder reads, and then is paused here
    first.unlock();                     // its lock is gone meanwhile

    auto second = node.acquire("account/7");
    const bool newer = account.write(200, second.token());

    const bool older = account.write(100, paused);  // it wakes, and does not know
    std::printf("token %s writes: %s\n", to_string(second.token()).c_str(), newer ? "yes" : "no");
    std::printf("token %s writes: %s\n", to_string(paused).c_str(), older ? "yes" : "no");
    std::printf("balance: %d\n", account.balance());
    return newer && !older && account.balance() == 200 ? 0 : 1;
}
