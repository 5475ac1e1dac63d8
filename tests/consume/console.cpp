#include <cstdio>

#include <mortise/console.hpp>
#include <mortise/mortise.hpp>

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    mortise::Console console{node, {.listen = "127.0.0.1:0"}};
    std::printf("%s\n", console.url().c_str());
    console.close();
    return console.address() == "127.0.0.1:0" ? 1 : 0;
}
