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
constexpr auto patience = std::chrono::seconds{2};

// The node answers, or it will not any more.
bool is_settled(Node& node) {
    std::error_code ec;
    return node.wait_ready(std::chrono::steady_clock::now(), ec) || ec;
}

// Behind a proxy this is meant so; else it is a slip that costs an evening.
void tell_of_two_addresses(const Config& config) {
    for (const auto& peer : config.peers) {
        if (peer.id == config.own_id() && peer.address != config.listen)
            std::cerr << "mortise: listening on " << escaped(config.listen) << ", peers are told "
                      << escaped(peer.address) << std::endl;
    }
}

// Says on stderr why the node is not ready, each reason once until it changes.
class Waiting {
public:
    void look(const Status& status) {
        if (status.ready) {
            since_ = Clock::now();
            told_.clear();
        } else if (Clock::now() - since_ >= patience && status.why_not_ready != told_) {
            told_ = status.why_not_ready;
            std::cerr << "mortise: not ready: " << escaped(told_) << std::endl;
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point since_ = Clock::now();
    std::string told_;
};

// Who gave no file and no variables has forgotten the file rather than the variables.
Config config_of(const NodeCommand& command) {
    if (command.config) return Config::from_file(*command.config);
    try {
        return Config::from_environment();
    } catch (const ConfigError& error) {
        if (error.place().key != "MORTISE_DATA_DIR") throw;
        throw Failure{ExitCode::config, line_of(error) + "; or give --config FILE"};
    }
}

void announce(const Status& status) {
    std::cout << "mortise: node " << status.id << " of cluster " << escaped(status.cluster)
              << " is ready";
    if (!status.address.empty()) std::cout << ", listening on " << status.address;
    std::cout << std::endl;
}

}  // namespace

ExitCode run(const NodeCommand& command) {
    EndSignals signals;
    const auto config = config_of(command);
    Node node{config};
    tell_of_two_addresses(config);
    Waiting waiting;
    bool announced = false;
    while (!signals.wait_for(glance)) {
        const auto status = node.status();
        if (status.stopped)
            throw Failure{ExitCode::io_error, "the node stopped: " + status.why_stopped};
        waiting.look(status);
        if (!announced && status.ready && is_settled(node)) {
            announce(status);
            announced = true;
        }
    }
    node.close();
    return ExitCode::ok;
}

}  // namespace mortise::cli
