#include "tests/process/process_cluster.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mortise::tests {

namespace {

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in{line};
    std::vector<std::string> words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

// Free at the moment; no other test here uses ports of that range meanwhile.
std::vector<std::string> free_addresses(std::size_t count) {
    asio::io_context io;
    std::vector<asio::ip::tcp::acceptor> taken;
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < count; ++i) {
        taken.emplace_back(io, asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), 0});
        addresses.push_back("127.0.0.1:" + std::to_string(taken.back().local_endpoint().port()));
    }
    return addresses;
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

Process::Process(const std::string& program, const std::string& config,
                 const std::string& history) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        throw std::runtime_error{"no pipes"};
    }
    const auto parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl(program.c_str(), program.c_str(), config.c_str(), history.c_str(), nullptr);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
    reader_ = std::thread{[this] { read_lines(); }};
}

Process::~Process() {
    kill_hard();
    reader_.join();
    close(in_);
    close(out_);
}

void Process::read_lines() {
    std::string partial;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(out_, buffer, sizeof buffer)) > 0;) {
        partial.append(buffer, static_cast<std::size_t>(got));
        const std::scoped_lock lock{mutex_};
        for (auto end = partial.find('\n'); end != std::string::npos; end = partial.find('\n')) {
            lines_.push_back(partial.substr(0, end));
            if (heard_.size() < 16'384) heard_ += lines_.back() + "\n";
            partial.erase(0, end + 1);
        }
        came_.notify_all();
    }
}

void Process::tell(const std::string& line) {
    const auto text = line + "\n";
    if (write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw std::runtime_error{"cannot tell a worker: " + line};
    }
}

std::vector<std::string> Process::expect(const std::string& beginning,
                                         std::chrono::seconds patience) {
    std::unique_lock lock{mutex_};
    std::optional<std::string> found;
    const bool came = came_.wait_for(lock, patience, [&] {
        while (!lines_.empty() && !found) {
            if (lines_.front().starts_with(beginning)) found = lines_.front();
            lines_.pop_front();
        }
        return found.has_value();
    });
    if (!came) throw did_not_come(beginning);
    return words_of(*found);
}

std::vector<std::string> Process::await(const std::string& beginning,
                                        std::chrono::seconds patience) {
    std::unique_lock lock{mutex_};
    auto found = lines_.end();
    const bool came = came_.wait_for(lock, patience, [&] {
        found = std::ranges::find_if(lines_,
                                     [&](const auto& line) { return line.starts_with(beginning); });
        return found != lines_.end();
    });
    if (!came) throw did_not_come(beginning);
    const auto words = words_of(*found);
    lines_.erase(found);
    return words;
}

std::runtime_error Process::did_not_come(const std::string& beginning) const {
    return std::runtime_error{"no \"" + beginning + "\" came; heard:\n" + heard_};
}

std::vector<std::vector<std::string>> Process::take_all(const std::string& beginning) {
    const std::scoped_lock lock{mutex_};
    std::vector<std::vector<std::string>> found;
    for (const auto& line : lines_) {
        if (line.starts_with(beginning)) found.push_back(words_of(line));
    }
    lines_.clear();
    return found;
}

void Process::kill_hard() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void Process::pause() {
    kill(pid_, SIGSTOP);
    while (!has_stopped())
        std::this_thread::yield();
}

void Process::resume() {
    kill(pid_, SIGCONT);
}

bool Process::has_stopped() {
    int status = 0;
    return waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_ && WIFSTOPPED(status);
}

ProcessCluster::ProcessCluster(TimingConfig timing)
    : timing_{timing},
      addresses_{free_addresses(3)},
      histories_{place_of_histories(directory() / "histories")},
      lives_{histories_ / "lives.jsonl"},
      life_(3),
      processes_(3) {
    if (testkit::default_wire() == testkit::Wire::tls) make_certificates();
    for (std::size_t i = 0; i < size(); ++i)
        links_.set_target(i, addresses_[i]);
    for (std::size_t i = 0; i < size(); ++i)
        start(i);
    expect_ready();
}

ProcessCluster::~ProcessCluster() {
    kill_all_at_once();
}

std::string ProcessCluster::name_of(std::size_t index) const {
    return "node" + std::to_string(index + 1) + "." + std::to_string(life_[index]);
}

void ProcessCluster::report_death(std::size_t index) {
    JsonLine line;
    lives_.put(line.add("process", name_of(index)).add("killed", boot_nanoseconds()));
}

// The authority and the certificates of all nodes, in the cluster's directory.
void ProcessCluster::make_certificates() {
    const auto at = [this](const std::string& name) { return directory() / name; };
    create_authority({"processes", at("ca.pem"), at("ca.key")});
    for (std::size_t i = 0; i < size(); ++i) {
        const auto stem = "node-" + std::to_string(i + 1);
        CertificateOptions options;
        options.authority_certificate = at("ca.pem");
        options.authority_key = at("ca.key");
        options.certificate = at(stem + ".pem");
        options.key = at(stem + ".key");
        options.node = i + 1;
        issue_certificate(options);
    }
}

std::string ProcessCluster::write_config(std::size_t index) {
    const auto path = directory() / ("node" + std::to_string(index) + ".toml");
    std::ofstream out{path};
    out << "cluster = \"processes\"\nnode_id = " << index + 1 << "\ndata_dir = \""
        << (directory() / std::to_string(index)).string() << "\"\nlisten = \"" << addresses_[index]
        << "\"\n";
    for (std::size_t i = 0; i < size(); ++i) {
        out << "[[peer]]\nid = " << i + 1 << "\naddress = \""
            << (i == index ? addresses_[i] : links_.address(index, i)) << "\"\n";
    }
    if (testkit::default_wire() == testkit::Wire::tls) {
        const auto stem = (directory() / ("node-" + std::to_string(index + 1))).string();
        out << "[tls]\ncertificate = \"" << stem << ".pem\"\nkey = \"" << stem << ".key\"\nca = \""
            << (directory() / "ca.pem").string() << "\"\n";
    }
    out << "[timing]\nsession_ttl = \"" << to_string(timing_.session_ttl)
        << "\"\nelection_timeout = \"" << to_string(timing_.election_timeout)
        << "\"\nheartbeat = \"" << to_string(timing_.heartbeat) << "\"\n";
    return path.string();
}

void ProcessCluster::start(std::size_t index) {
    ++life_[index];
    JsonLine line;
    line.add("process", name_of(index)).add("node", static_cast<std::int64_t>(index) + 1);
    lives_.put(line.add("began", boot_nanoseconds()));
    const auto history = histories_ / (name_of(index) + ".jsonl");
    processes_[index] =
        std::make_unique<Process>(MORTISE_WORKER, write_config(index), history.string());
}

void ProcessCluster::kill_hard(std::size_t index) {
    report_death(index);
    processes_[index]->kill_hard();
    processes_[index].reset();
}

void ProcessCluster::kill_all_at_once() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_running(i)) continue;
        report_death(i);
        kill(processes_[i]->pid(), SIGKILL);
    }
    for (auto& process : processes_)
        process.reset();
}

void ProcessCluster::expect_ready() {
    for (const auto& process : processes_) {
        if (process) process->expect("ready", std::chrono::seconds{60});
    }
}

std::size_t ProcessCluster::leader_seen_by(std::size_t index) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        processes_[index]->tell("status");
        const auto status = processes_[index]->expect("status", std::chrono::seconds{30});
        if (status[1] != "0") return std::stoul(status[1]) - 1;
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    throw std::runtime_error{"no leader"};
}

}  // namespace mortise::tests
