#include "tools/mortise/member.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/port_owner.hpp"

namespace mortise::cli {

namespace {

std::int64_t nanoseconds(Duration duration) {
    return duration.to_nanoseconds().count();
}

Config config_in(const Json& settings) {
    const auto duration = [&](const char* key) {
        return Duration{std::chrono::nanoseconds{settings.at(key).get<std::int64_t>()}};
    };
    Config config;
    config.node_id = settings.at("node_id");
    config.data_dir = settings.at("data_dir").get<std::string>();
    config.listen = settings.at("listen");
    for (const auto& address : settings.at("peers"))
        config.peers.push_back({config.peers.size() + 1, address});
    const auto tls = [&](const char* key) { return settings.value(key, std::string{}); };
    config.tls = {tls("certificate"), tls("key"), tls("ca")};
    config.durability = static_cast<Durability>(settings.at("durability").get<int>());
    config.sync_interval = duration("sync_interval");
    config.timing.session_ttl = duration("session_ttl");
    config.timing.election_timeout = duration("election_timeout");
    config.timing.heartbeat = duration("heartbeat");
    config.timing.call_timeout = duration("call_timeout");
    config.timing.close_timeout = duration("close_timeout");
    return config;
}

}  // namespace

Json settings_of(const Config& config) {
    Json settings{{"node_id", config.node_id},
                  {"data_dir", config.data_dir.string()},
                  {"listen", config.listen},
                  {"peers", Json::array()},
                  {"certificate", config.tls.certificate.string()},
                  {"key", config.tls.key.string()},
                  {"ca", config.tls.ca.string()},
                  {"durability", static_cast<int>(config.durability)},
                  {"sync_interval", nanoseconds(config.sync_interval)},
                  {"session_ttl", nanoseconds(config.timing.session_ttl)},
                  {"election_timeout", nanoseconds(config.timing.election_timeout)},
                  {"heartbeat", nanoseconds(config.timing.heartbeat)},
                  {"call_timeout", nanoseconds(config.timing.call_timeout)},
                  {"close_timeout", nanoseconds(config.timing.close_timeout)}};
    for (const auto& peer : config.peers)
        settings["peers"].push_back(peer.address);
    return settings;
}

Node open_member(Leash& leash, LogConfig log) try {
    auto config = config_in(leash.next());
    config.log = std::move(log);
    auto node = open_node(config);
    leash.say({{"listening", node.status().address}});
    return node;
} catch (const std::exception& error) {
    tell_problem(leash, error);
    throw;
}

void tell_problem(Leash& leash, const std::exception& error) {
    leash.say({{"problem", line_of(error)}, {"code", static_cast<int>(exit_code_of(error))}});
}

Json short_status(const Node& node) {
    const auto status = node.status();
    return {{"status",
             {{"ready", status.ready && !status.stopped},
              {"standing", to_string(status.standing)},
              {"leader", status.leader.value_or(0)},
              {"why", status.stopped ? status.why_stopped : status.why_not_ready}}}};
}

// A node in a process of its own, controlled by its parent (child_process.hpp); never typed by a
// person.
Command member_command() {
    const auto role = std::make_shared<std::string>();
    const auto run = [role] {
        Leash leash;
        if (*role == "demo") return run_demo_member(leash);
        if (*role == "bench") return run_bench_member(leash);
        if (*role == "dev") return run_dev_member(leash);
        throw Failure{ExitCode::usage, "no such role"};
    };
    return {
        .name = "mortise member", .arguments = {required("ROLE", value(*role), "")}, .run = run};
}

}  // namespace mortise::cli
