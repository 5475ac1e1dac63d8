// Holds a lock. Without an argument it runs alone and in memory; with the path of a configuration
// it is one process of a cluster.
#include <cstdio>

#include <mortise/mortise.hpp>

int main(int argc, char** argv) {
    mortise::Node node{argc > 1 ? mortise::Config::from_file(argv[1])
                                : mortise::Config::in_memory()};

    mortise::Hold hold = node.acquire("orders/42");  // waits; throws mortise::LockError
    std::printf("orders/42 is ours, token %s\n", to_string(hold.token()).c_str());

    // ... work, as long as hold.valid(); the destructor releases it
}
