#include <chrono>
#include <cstdio>
#include <sstream>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    auto hold = node.acquire("consume");
    std::printf("held %s with token %s\n", hold.name().c_str(), to_string(hold.token()).c_str());
    std::ostringstream text;
    text << hold.token();
    const bool is_streamed = text.str() == to_string(hold.token());
    // Functions, which a shared library has to show one by one.
    auto* const volatile dump = &mortise::dump_directory;
    const bool ran = mortise::run_once_per(node, "job", std::chrono::hours{1}, [](const auto&) {});
    const bool is_known = mortise::last_run(node, "job").has_value();
    const bool is_linked = is_streamed && dump != nullptr && ran && is_known;
    return hold.valid() && !hold.release() && is_linked ? 0 : 1;
}
