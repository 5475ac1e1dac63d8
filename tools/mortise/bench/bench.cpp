// Measures an acquire on this machine, and the machine's disk and loopback for comparison.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/mortise/bench/latency.hpp"
#include "tools/mortise/bench/limits.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/member_cluster.hpp"
#include "tools/mortise/table.hpp"
#include "tools/mortise/terminal.hpp"

namespace mortise::cli {

namespace {

struct BenchCommand {
    std::size_t seconds = 5;  // for each measurement
    std::size_t clients = 32;
    bool tls = false;
    // the directory whose disk is measured; empty: the system's temporary directory
    std::filesystem::path directory;
    bool json = false;
};

using namespace std::chrono_literals;

constexpr auto patience = 30s;

struct LatencyRow {
    std::string what;
    Quantiles quantiles;
};

struct LoadRow {
    std::string what;
    double per_second = 0;
};

struct Report {
    Quantiles sync;
    Quantiles round_trip;
    std::vector<LatencyRow> latencies;
    std::vector<LoadRow> loads;
};

class Bench {
public:
    explicit Bench(const BenchCommand& command)
        : seconds_{static_cast<std::int64_t>(command.seconds)},
          callers_{command.clients},
          cluster_{{.name = "bench",
                    .links = MemberCluster::Links::direct,
                    .timing = {},
                    .parent_directory = command.directory,
                    .tls = command.tls},
                   [this](std::size_t member, const Json& line) { answers_[member] = line; }} {}

    Report run() {
        Report report;
        progress("fdatasync and loopback");
        report.sync = measure_sync(cluster_.directory(), seconds_);
        report.round_trip = measure_round_trip(seconds_);
        start();
        measure_latencies(report);
        measure_load(report, "distinct names", true);
        measure_load(report, "one hot name", false);
        progress("");
        return report;
    }

private:
    void start() {
        progress("three nodes");
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            cluster_.start(i);
        const auto ready = [this] { return cluster_.all_ready() && cluster_.leader(); };
        if (!cluster_.pump_until(ready, patience))
            throw Failure{ExitCode::unavailable, "the cluster did not get ready"};
    }

    void measure_latencies(Report& report) {
        const auto leader = cluster_.leader().value_or(0);
        const auto follower = (leader + 1) % cluster_.size();
        for (const auto& [member, where] :
             {std::pair{leader, "leader"}, std::pair{follower, "follower"}}) {
            progress(std::string{"one caller on the "} + where);
            ask(member, {{"latency", "bench/one"}, {"seconds", seconds_.count()}});
            const auto& answer = answers_.at(member).at("latency");
            report.latencies.push_back(
                {std::string{"acquire on the "} + where, quantiles_in(answer.at("acquire"))});
            report.latencies.push_back(
                {std::string{"release on the "} + where, quantiles_in(answer.at("release"))});
        }
        // After a change the numbers would not be those of a leader and a follower.
        if (cluster_.leader() != leader)
            throw Failure{ExitCode::unavailable, "the leader changed while it was measured"};
    }

    void measure_load(Report& report, const std::string& what, bool distinct) {
        progress(std::to_string(callers_) + " callers, " + what);
        answers_.clear();
        std::size_t asked = 0;
        for (std::size_t i = 0; i < cluster_.size(); ++i) {
            const auto share = (callers_ + cluster_.size() - 1 - i) / cluster_.size();
            if (share == 0) continue;
            cluster_.say(i, {{"load", "bench/many"},
                             {"callers", share},
                             {"distinct", distinct},
                             {"seconds", seconds_.count()}});
            ++asked;
        }
        await_answers(asked);
        double rounds = 0;
        for (const auto& [member, answer] : answers_) {
            if (answer.at("load").at("failed"))
                throw Failure{ExitCode::unavailable, "a call failed while it was measured"};
            rounds += answer.at("load").at("rounds").get<double>();
        }
        report.loads.push_back({std::to_string(callers_) + " callers, " + what,
                                rounds / static_cast<double>(seconds_.count())});
    }

    void ask(std::size_t member, const Json& task) {
        answers_.clear();
        cluster_.say(member, task);
        await_answers(1);
    }
    void await_answers(std::size_t count) {
        const auto all = [&] { return answers_.size() >= count; };
        if (!cluster_.pump_until(all, seconds_ + patience))
            throw Failure{ExitCode::unavailable, "a measurement did not end"};
    }

    static void progress(const std::string& what) {
        if (::isatty(STDERR_FILENO) == 1)
            std::cerr << "\r\x1b[K" << (what.empty() ? "" : "measuring: " + what) << std::flush;
    }

    std::chrono::seconds seconds_;
    std::size_t callers_;
    std::map<std::size_t, Json> answers_;
    MemberCluster cluster_;
};

std::string microseconds(std::chrono::nanoseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f",
                  std::chrono::duration<double, std::micro>{time}.count());
    return text;
}

double ratio(std::chrono::nanoseconds time, std::chrono::nanoseconds unit) {
    return unit.count() == 0
               ? 0
               : static_cast<double>(time.count()) / static_cast<double>(unit.count());
}

std::string times(double factor) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", factor);
    return text;
}

void print_table(const Report& report) {
    Table table{
        {"MICROSECONDS", "COUNT", "P50", "P90", "P99", "P99.9", "MAX", "P50/SYNC", "P50/TRIP"}};
    const auto add = [&](const std::string& what, const Quantiles& it) {
        table.add({what, std::to_string(it.count), microseconds(it.p50), microseconds(it.p90),
                   microseconds(it.p99), microseconds(it.p999), microseconds(it.max),
                   times(ratio(it.p50, report.sync.p50)),
                   times(ratio(it.p50, report.round_trip.p50))});
    };
    add("fdatasync of 256 bytes", report.sync);
    add("loopback round trip", report.round_trip);
    for (const auto& row : report.latencies)
        add(row.what, row.quantiles);
    std::cout << table.text(is_terminal()) << '\n';

    const double syncs =
        report.sync.p50.count() == 0 ? 0 : 1e9 / static_cast<double>(report.sync.p50.count());
    Table loads{{"ACQUIRE AND RELEASE", "PER SECOND", "PER FDATASYNC"}};
    for (const auto& row : report.loads)
        loads.add({row.what, std::to_string(static_cast<std::int64_t>(row.per_second)),
                   times(syncs == 0 ? 0 : row.per_second / syncs)});
    std::cout << loads.text(is_terminal());
}

Json json_of_report(const Report& report) {
    Json json{{"fdatasync", json_of(report.sync)},
              {"round_trip", json_of(report.round_trip)},
              {"latencies", Json::array()},
              {"loads", Json::array()}};
    for (const auto& row : report.latencies) {
        auto entry = json_of(row.quantiles);
        entry["what"] = row.what;
        entry["p50_per_fdatasync"] = ratio(row.quantiles.p50, report.sync.p50);
        entry["p50_per_round_trip"] = ratio(row.quantiles.p50, report.round_trip.p50);
        json["latencies"].push_back(std::move(entry));
    }
    for (const auto& row : report.loads)
        json["loads"].push_back({{"what", row.what}, {"per_second", row.per_second}});
    return json;
}

ExitCode run(const BenchCommand& command) {
    const auto report = Bench{command}.run();
    if (command.json)
        std::cout << json_of_report(report).dump(2) << '\n';
    else
        print_table(report);
    return ExitCode::ok;
}

}  // namespace

Command bench_command() {
    const auto self = std::make_shared<BenchCommand>();
    return {.name = "mortise bench",
            .purpose = "Measure a temporary cluster of three on this machine",
            .options = {option("--seconds SECONDS", number(self->seconds, 1, 3600),
                               "The time of each measurement"),
                        option("--clients NUMBER", number(self->clients, 1, 1000),
                               "The number of callers on all nodes"),
                        flag("--tls", self->tls, "Use TLS between the nodes"),
                        option("--directory DIRECTORY",
                               value(self->directory, Kind::existing_directory),
                               "A directory on the disk to be measured"),
                        flag("--json", self->json, "Print JSON")},
            .notes = "It cannot put load on a running cluster yet.",
            .examples = {{"mortise bench",
                          "Measures for five seconds each what locks cost on this machine."},
                         {"mortise bench --seconds 30 --clients 100 --directory /var/lib --json",
                          "Measures for longer, with more callers, on the disk of that "
                          "directory."}},
            .exit_codes = exits({0, 64, 74, 130, 141}),
            .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
