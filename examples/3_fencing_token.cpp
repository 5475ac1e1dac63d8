// Why tokens are needed. No lock service can stop a holder that was paused: anything may happen
// between its last check of hold.valid() and its write. So the write carries the token, and the
// resource refuses a token that is older than the newest it has seen. A database does that in one
// statement:
//
//   UPDATE account SET balance = ?, token = ? WHERE id = ? AND token <= ?
//
// A resource that cannot compare tokens itself, such as a file, a device or another service, gets a
// FenceGate in front of it, which makes the check and the write one step.
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
        const auto paused = first.token();  // the first holder reads, and is paused here
        first.unlock();                     // it loses its lock meanwhile

        auto second = node.acquire("account/7");
        newer = gate.admit("account/7", second.token(), [&] { balance = 200; });

        // It continues, and does not know about the loss.
        older = gate.admit("account/7", paused, [&] { balance = 100; });
        std::printf("token %s writes: %s\n", to_string(second.token()).c_str(),
                    newer ? "yes" : "no");
        std::printf("token %s writes: %s\n", to_string(paused).c_str(), older ? "yes" : "no");
    }
    std::filesystem::remove_all(directory);
    std::printf("balance: %d\n", balance);
    return newer && !older && balance == 200 ? 0 : 1;
}
