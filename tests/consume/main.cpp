#include <cstdio>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    auto hold = node.acquire("consume");
    std::printf("held %s with token %s\n", hold.name().c_str(), to_string(hold.token()).c_str());
    return hold.valid() && !hold.release() ? 0 : 1;
}
