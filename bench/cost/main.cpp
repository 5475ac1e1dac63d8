// A process that has a node, holds one lock and does nothing else: bench_cost CONFIG. Without an
// argument it has no node. It says `ready`, and answers each line with what it is.
#include <cstdio>
#include <exception>
#include <optional>

#include <mortise/mortise.hpp>

namespace {

const char* what_it_is(const std::optional<mortise::Node>& node) {
    if (!node) return "no node";
    const auto status = node->status();
    if (status.role == mortise::Role::client) return "client";
    return status.standing == mortise::Standing::leader ? "leader" : "follower";
}

void say(const char* line) {
    std::puts(line);
    std::fflush(stdout);
}

int run(const char* file) {
    std::optional<mortise::Node> node;
    mortise::Hold hold;
    if (file != nullptr) {
        node.emplace(mortise::Config::from_file(file));
        hold = node->acquire(file);
    }
    say("ready");
    for (int c = 0; (c = std::getchar()) != EOF;)
        if (c == '\n') say(what_it_is(node));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc > 1 ? argv[1] : nullptr);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
