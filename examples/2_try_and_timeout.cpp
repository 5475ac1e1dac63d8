// A lock that somebody else holds is an answer, not an error: an empty optional. An error means
// that the cluster did not answer.
#include <chrono>
#include <cstdio>

#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace {

void report(const char* what, const std::optional<mortise::Hold>& hold) {
    std::printf("%-24s %s\n", what, hold ? "ours" : "somebody else has it");
}

}  // namespace

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    auto nightly = node.acquire("cron/nightly", {.label = "first run"});

    report("at once", node.try_acquire("cron/nightly"));
    report("within 100 ms", node.acquire_for("cron/nightly", 100ms));

    mortise::LockInfo busy;
    if (!node.try_acquire("cron/nightly", busy)) {
        const auto& holder = busy.holders.front();
        std::printf("%-24s node %llu, \"%s\"\n", "who has it",
                    static_cast<unsigned long long>(holder.node), holder.label.c_str());
    }

    const auto released = nightly.release();  // waits until the cluster has confirmed it
    std::printf("%-24s %s\n", "released", released ? released.message().c_str() : "yes");
    report("now", node.try_acquire("cron/nightly"));

    // Every call has a form with a std::error_code that does not throw.
    std::error_code ec;
    const auto hold = node.acquire("", ec);
    std::printf("%-24s %s\n", "a name is never empty", ec.message().c_str());
    return hold ? 1 : 0;
}
