// One of several copies of a service leads, and everybody knows where it is. Here two copies and
// their client share one node; normally each is a process with a node of its own.
#include <cstdio>
#include <future>
#include <optional>
#include <string>

#include <asio/use_future.hpp>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

int main() {
    mortise::Node node{mortise::Config::in_memory()};
    mortise::Election election{node, "orders/leader"};

    // The client. Its sink runs on a thread of the node and must not block it for long.
    std::promise<std::string> moved;
    const auto watching = election.observe([&](const std::optional<mortise::Leader>& leader) {
        const std::string who = leader ? leader->value : "nobody";
        std::printf("%s leads\n", who.c_str());
        if (who == "10.0.0.2:7400") moved.set_value(who);
    });

    // Both copies campaign with the address at which they serve. The second one waits.
    mortise::Hold first = election.campaign("10.0.0.1:7400");
    auto second = mortise::async_campaign(election, "10.0.0.2:7400", asio::use_future);

    // ... the leader works, as long as first.valid(), and passes first.token() on with each write.
    // A leader that dies loses its hold when its lease ends; this one ends in order.
    election.resign(first);

    const mortise::Hold hold = second.get();
    const std::string address = moved.get_future().get();
    const auto leader = election.leader();
    return leader && leader->value == address && leader->token == hold.token() ? 0 : 1;
}
