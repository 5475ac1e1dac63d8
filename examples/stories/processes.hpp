// For stories of several processes: three nodes of one cluster on loopback, each in a process of
// its own.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mortise/mortise.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace story {

using namespace std::chrono_literals;

// The three nodes: ports that are free at the moment, and a directory for their files.
class Members {
public:
    Members() {
        asio::io_context io;
        std::vector<asio::ip::tcp::acceptor> taken;
        for (mortise::NodeId id = 1; id <= 3; ++id) {
            taken.emplace_back(io, asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), 0});
            const auto port = taken.back().local_endpoint().port();
            peers_.push_back({id, "127.0.0.1:" + std::to_string(port)});
        }
    }

    [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

    // The configuration of one of the nodes. Its leases last two seconds, so that a story is short.
    [[nodiscard]] mortise::Config config(mortise::NodeId id) const {
        mortise::Config config;
        config.node_id = id;
        config.listen = peers_.at(id - 1).address;
        config.peers = peers_;
        config.data_dir = directory() / std::to_string(id);
        config.timing.session_ttl = 2s;
        config.timing.election_timeout = 300ms;
        config.timing.heartbeat = 50ms;
        config.log.level = mortise::LogLevel::off;  // that a process is stopped is no news
        return config;
    }

private:
    mortise::testkit::TempDirectory directory_{"mortise-story"};
    std::vector<mortise::PeerConfig> peers_;
};

// A process that runs `body`, ends with its result, and does not outlive its parent. Start it
// before this process opens a node: a child has no use for the nodes of its parent.
class Child {
public:
    explicit Child(const std::function<int()>& body) {
        std::fflush(stdout);
        pid_ = ::fork();
        if (pid_ < 0) throw std::runtime_error{"no process could be started"};
        if (pid_ > 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int result = result_of(body);
        std::fflush(stdout);
        ::_exit(result);
    }
    ~Child() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Waits until it has stopped itself; false if it has ended instead.
    [[nodiscard]] bool wait_stopped() {
        int status = 0;
        ::waitpid(pid_, &status, WUNTRACED);
        if (!WIFSTOPPED(status)) pid_ = 0;
        return pid_ != 0;
    }
    void go_on() const { ::kill(pid_, SIGCONT); }
    // Waits for its end, and returns its result.
    int result() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    static int result_of(const std::function<int()>& body) {
        try {
            return body();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            return 1;
        }
    }

    pid_t pid_ = 0;
};

inline bool is_ready(mortise::Node& node) {
    return node.wait_ready(std::chrono::steady_clock::now() + 30s);
}

// A process that is only a member of the cluster: with it, one of the others may be stopped.
inline int be_a_member(const Members& members, mortise::NodeId id) {
    const mortise::Node node{members.config(id)};
    while (true)
        ::pause();
}

}  // namespace story
