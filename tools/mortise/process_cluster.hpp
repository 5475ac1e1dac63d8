// Three nodes of a temporary cluster, each in a process of its own on this machine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include "tools/mortise/child_process.hpp"
#include <mortise/config.hpp>
#include <mortise/testkit/link_matrix.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise::cli {

// Everything happens on the calling thread: lines of members arrive only within pump_until().
// SIGINT and SIGTERM are detected there, too, and throw Failure{interrupted}; the destructor then
// removes everything.
class ProcessCluster {
public:
    enum class Links {
        direct,   // members know the ports of each other
        proxied,  // every link can be cut
    };
    struct Plan {
        std::string role;  // `mortise member ROLE`
        std::size_t size = 3;
        Links links = Links::direct;
        TimingConfig timing{};
        std::filesystem::path parent_directory{};  // empty: the system's temporary directory
        bool tls = false;
        std::uint16_t first_port = 0;  // of the first node, the others have the next ones; 0: any
    };
    struct MemberState {
        bool ready = false;
        bool leads = false;
        NodeId leader = 0;
        std::string why_not_ready;
    };
    // Members count from 0; the NodeId is one more.
    using OnLine = std::function<void(std::size_t member, const Json& line)>;

    ProcessCluster(Plan plan, OnLine on_line);

    void start(std::size_t member);
    void kill(std::size_t member);
    void say(std::size_t member, const Json& line);
    // From now on, a member that ends is not a failure.
    void let_end() { may_end_ = true; }
    // Nor with this function, which is called for it and may start it again.
    void set_on_end(std::function<void(std::size_t member)> on_end) { on_end_ = std::move(on_end); }
    void say_to_all(const Json& line);
    void set_links(std::size_t member, testkit::LinkMode mode);

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] pid_t pid(std::size_t member) const;
    // For direct links: where the member listens.
    [[nodiscard]] const std::string& address(std::size_t member) const { return ports_[member]; }
    [[nodiscard]] bool is_running(std::size_t member) const;
    [[nodiscard]] const MemberState& state(std::size_t member) const;
    // The member that a majority regards as the leader.
    [[nodiscard]] std::optional<std::size_t> leader() const;
    [[nodiscard]] bool all_ready() const;
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

    // Returns false if `limit` passed before `done` was true. Throws Failure if a member ends that
    // was not killed. `idle` is called at intervals.
    bool pump_until(const std::function<bool()>& done, std::chrono::milliseconds limit);
    void set_idle(std::function<void()> idle) { idle_ = std::move(idle); }

private:
    struct Member {
        std::unique_ptr<ChildProcess> process;
        MemberState state;
        bool listening = false;
    };

    [[nodiscard]] Config config_of(std::size_t member);
    void reserve_ports();
    void make_certificates();
    [[nodiscard]] TlsConfig tls_of(NodeId id) const;
    void take(std::size_t member, const Json& line);
    void look_after_members();

    Plan plan_;
    OnLine on_line_;
    std::function<void()> idle_;
    std::function<void(std::size_t member)> on_end_;
    asio::io_context io_{1};
    asio::signal_set signals_{io_};
    bool interrupted_ = false;
    bool may_end_ = false;
    testkit::TempDirectory directory_;
    std::unique_ptr<testkit::LinkMatrix> links_;
    std::vector<std::string> ports_;  // for direct links
    std::vector<Member> members_;
};

}  // namespace mortise::cli
