#include <chrono>
#include <cstdio>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    auto hold = node.acquire("consume");
    std::printf("held %s with token %s\n", hold.name().c_str(), to_string(hold.token()).c_str());
    // Functions, which a shared library has to show one by one.
    auto* const volatile dump = &mortise::dump_directory;
    const bool ran = mortise::run_once_per(node, "job", std::chrono::hours{1}, [](const auto&) {});
    const bool is_known = mortise::last_run(node, "job").has_value();
    return hold.valid() && !hold.release() && dump != nullptr && ran && is_known ? 0 : 1;
}
