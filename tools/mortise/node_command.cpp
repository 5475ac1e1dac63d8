// node: a peer without an application.
#include <chrono>
#include <iostream>
#include <string>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/signals.hpp"
#include <mortise/config.hpp>
#include <mortise/escaped.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

namespace {

constexpr auto glance = std::chrono::milliseconds{200};

// The node answers, or it will not any more.
bool is_settled(Node& node) {
    std::error_code ec;
    return node.wait_ready(std::chrono::steady_clock::now(), ec) || ec;
}

void announce(const Node& node) {
    const auto status = node.status();
    std::cout << "mortise: node " << status.id << " of cluster " << escaped(status.cluster)
              << " is ready";
    if (!status.address.empty()) std::cout << ", listening on " << status.address;
    std::cout << std::endl;
}

}  // namespace

ExitCode run(const NodeCommand& command) {
    EndSignals signals;
    Node node{command.config ? Config::from_file(*command.config) : Config::from_environment()};
    bool announced = false;
    while (!signals.wait_for(glance)) {
        const auto status = node.status();
        if (status.stopped)
            throw Failure{ExitCode::io_error, "the node stopped: " + status.why_stopped};
        if (!announced && is_settled(node) && node.status().ready) {
            announce(node);
            announced = true;
        }
    }
    node.close();
    return ExitCode::ok;
}

}  // namespace mortise::cli
