// Why a token. No lock service can stop a holder that was paused: between its last look at
// hold.valid() and its write anything may happen. So the write carries the token, and what is
// written to refuses one that is older than the newest it has seen. A database does it in one
// statement:
//
//   UPDATE account SET balance = ?, token = ? WHERE id = ? AND token <= ?
//
// What cannot compare tokens itself, a file, a device, somebody else's service, gets a FenceGate in
// front of it: the check and the write are one step there.
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <mortise/mortise.hpp>

int main() {
    const auto directory =
        std::filesystem::temp_directory_path() / ("mortise-example-" + std::to_string(getpid()));
    mortise::Node node{mortise::Config::in_memory()};
    int balance = 0;
    bool newer = false;
    bool older = false;
    {
        auto gate = mortise::FenceGate::open(directory);

        auto first = node.acquire("account/7");
        const auto paused = first.token();  // the first holder reads, and then is paused here
        first.unlock();                     // its lock is gone meanwhile

        auto second = node.acquire("account/7");
        newer = gate.admit("account/7", second.token(), [&] { balance = 200; });

        // It wakes, and does not know.
        older = gate.admit("account/7", paused, [&] { balance = 100; });
        std::printf("token %s writes: %s\n", to_string(second.token()).c_str(),
                    newer ? "yes" : "no");
        std::printf("token %s writes: %s\n", to_string(paused).c_str(), older ? "yes" : "no");
    }
    std::filesystem::remove_all(directory);
    std::printf("balance: %d\n", balance);
    return newer && !older && balance == 200 ? 0 : 1;
}
