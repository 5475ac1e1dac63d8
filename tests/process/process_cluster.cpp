#include "tests/process/process_cluster.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include <sys/wait.h>

namespace mortise::tests {

namespace {

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in{line};
    std::vector<std::string> words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

// The script that judges them gives a place; otherwise they are not judged.
std::filesystem::path place_of_histories(const std::filesystem::path& otherwise) {
    static int clusters = 0;
    const auto* wanted = std::getenv("MORTISE_HISTORIES");
    const auto place = (wanted == nullptr ? otherwise : std::filesystem::path{wanted}) /
                       ("cluster" + std::to_string(++clusters));
    std::filesystem::create_directories(place);
    return place;
}

}  // namespace

void Process::tell(const std::string& line) {
    cluster_.say(index_, line);
}

void Process::hear(const std::string& line) {
    lines_.push_back(line);
    if (heard_.size() < 16'384) heard_ += line + "\n";
}

void Process::await_line(const std::string& beginning, std::chrono::seconds patience,
                         const std::function<bool()>& came) {
    std::string why = "no \"" + beginning + "\" came";
    try {
        if (cluster_.pump_until(came, patience)) return;
    } catch (const std::exception& problem) {
        why += ": " + std::string{problem.what()};
    }
    throw std::runtime_error{why + "; heard:\n" + heard_};
}

std::vector<std::string> Process::expect(const std::string& beginning,
                                         std::chrono::seconds patience) {
    std::optional<std::string> found;
    await_line(beginning, patience, [&] {
        while (!lines_.empty() && !found) {
            if (lines_.front().starts_with(beginning)) found = lines_.front();
            lines_.pop_front();
        }
        return found.has_value();
    });
    return words_of(*found);
}

std::vector<std::string> Process::await(const std::string& beginning,
                                        std::chrono::seconds patience) {
    auto found = lines_.end();
    await_line(beginning, patience, [&] {
        found = std::ranges::find_if(lines_,
                                     [&](const auto& line) { return line.starts_with(beginning); });
        return found != lines_.end();
    });
    const auto words = words_of(*found);
    lines_.erase(found);
    return words;
}

std::vector<std::vector<std::string>> Process::take_all(const std::string& beginning) {
    std::vector<std::vector<std::string>> found;
    for (const auto& line : lines_) {
        if (line.starts_with(beginning)) found.push_back(words_of(line));
    }
    lines_.clear();
    return found;
}

void Process::pause() {
    ::kill(cluster_.pid(index_), SIGSTOP);
    while (!has_stopped())
        std::this_thread::yield();
}

void Process::resume() {
    ::kill(cluster_.pid(index_), SIGCONT);
}

bool Process::has_stopped() {
    int status = 0;
    const auto pid = cluster_.pid(index_);
    return ::waitpid(pid, &status, WNOHANG | WUNTRACED) == pid && WIFSTOPPED(status);
}

ProcessCluster::ProcessCluster(TimingConfig timing)
    : cli::ProcessCluster{{.name = "process",
                           .links = Links::proxied,
                           .timing = timing,
                           .parent_directory = {},
                           .tls = testkit::default_wire() == testkit::Wire::tls}},
      histories_{place_of_histories(directory() / "histories")},
      lives_{histories_ / "lives.jsonl"},
      life_(size()) {
    for (std::size_t i = 0; i < size(); ++i) {
        processes_.emplace_back(*this, i);
        start(i);
    }
    expect_ready();
}

ProcessCluster::~ProcessCluster() {
    kill_all_at_once();
}

std::string ProcessCluster::name_of(std::size_t index) const {
    return "node" + std::to_string(index + 1) + "." + std::to_string(life_[index]);
}

std::filesystem::path ProcessCluster::data(std::size_t index) const {
    return config_of(index).data_dir;
}

void ProcessCluster::take(std::size_t index, const std::string& line) {
    processes_[index].hear(line);
}

std::string ProcessCluster::last_line(std::size_t index) const {
    const auto& lines = processes_[index].lines_;
    return lines.empty() ? "" : lines.back();
}

void ProcessCluster::report_death(std::size_t index) {
    JsonLine line;
    lives_.put(line.add("process", name_of(index)).add("killed", boot_nanoseconds()));
}

std::string ProcessCluster::write_config(std::size_t index) const {
    const auto config = config_of(index);
    const auto path = directory() / ("node" + std::to_string(index) + ".toml");
    std::ofstream out{path};
    out << "node_id = " << config.node_id << "\ndata_dir = " << config.data_dir << "\nlisten = \""
        << config.listen << "\"\n";
    for (const auto& peer : config.peers)
        out << "[[peer]]\nid = " << peer.id << "\naddress = \"" << peer.address << "\"\n";
    if (!config.tls.certificate.empty())
        out << "[tls]\ncertificate = " << config.tls.certificate << "\nkey = " << config.tls.key
            << "\nca = " << config.tls.ca << "\n";
    out << "[timing]\nsession_ttl = \"" << to_string(config.timing.session_ttl)
        << "\"\nelection_timeout = \"" << to_string(config.timing.election_timeout)
        << "\"\nheartbeat = \"" << to_string(config.timing.heartbeat) << "\"\n";
    return path.string();
}

// It does not outlive this process, even if it is stopped.
void ProcessCluster::start(std::size_t index) {
    ++life_[index];
    JsonLine line;
    line.add("process", name_of(index)).add("node", static_cast<std::int64_t>(index) + 1);
    lives_.put(line.add("began", boot_nanoseconds()));
    const auto history = histories_ / (name_of(index) + ".jsonl");
    processes_[index].lines_.clear();
    processes_[index].heard_.clear();
    cli::ProcessCluster::start(index, {"setpriv",
                                       {"setpriv", "--pdeathsig", "KILL", "--", MORTISE_WORKER,
                                        write_config(index), history.string()},
                                       {}});
}

void ProcessCluster::kill_hard(std::size_t index) {
    report_death(index);
    kill(index);
}

void ProcessCluster::kill_all_at_once() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_running(i)) continue;
        report_death(i);
        ::kill(pid(i), SIGKILL);
    }
    for (std::size_t i = 0; i < size(); ++i)
        kill(i);
}

void ProcessCluster::expect_ready() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (is_running(i)) processes_[i].expect("ready", std::chrono::seconds{60});
    }
}

std::vector<std::string> ProcessCluster::ask_until(
    std::size_t index, const std::function<bool(const std::vector<std::string>&)>& is_wanted) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        processes_[index].tell("status");
        auto status = processes_[index].expect("status", std::chrono::seconds{30});
        if (is_wanted(status)) return status;
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    throw std::runtime_error{"the status of process " + std::to_string(index) +
                             " is not as wanted"};
}

std::size_t ProcessCluster::leader_seen_by(std::size_t index) {
    const auto status = ask_until(index, [](const auto& words) { return words.at(1) != "0"; });
    return std::stoul(status[1]) - 1;
}

void ProcessCluster::await_connected(std::size_t index, std::size_t other, bool is_connected) {
    ask_until(index, [&](const auto& words) {
        const auto peers = words.begin() + 4;
        return (std::find(peers, words.end(), std::to_string(other + 1)) != words.end()) ==
               is_connected;
    });
}

}  // namespace mortise::tests
