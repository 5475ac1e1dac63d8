// A program that serves locks with HTTP to programs in other languages.
#include <cstdio>

#include <mortise/http_door.hpp>

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    mortise::HttpDoor door{node, {.listen = "127.0.0.1:0"}};
    std::printf("%s\n", door.url().c_str());
    door.close();
    return door.address() == "127.0.0.1:0" ? 1 : 0;
}
