// A program that links the library, for the command line to look at: it holds orders/42 and waits
// for it once more, until its standard input ends.
#include <cstdio>
#include <thread>

#include <mortise/mortise.hpp>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    mortise::Node node{mortise::Config::from_file(argv[1])};
    mortise::AcquireOptions options;
    options.label = "the holder";
    auto hold = node.acquire("orders/42", options);
    std::printf("holds %s\n", to_string(hold.token()).c_str());
    std::fflush(stdout);
    std::jthread waiter{[&node] {
        mortise::AcquireOptions patient;
        patient.mode = mortise::LockMode::shared;
        patient.label = "the waiter";
        const auto second = node.acquire("orders/42", patient);
    }};
    while (std::getchar() != EOF) {
    }
    return hold.release() ? 1 : 0;
}
