// A temporary cluster on this machine whose nodes are processes of their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
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
// removes everything. Members count from 0; the NodeId is one more.
class ProcessCluster {
public:
    enum class Links {
        direct,   // members know the ports of each other
        proxied,  // every link can be cut
    };
    struct Plan {
        std::string name;  // of its directory
        std::size_t size = 3;
        Links links = Links::direct;
        TimingConfig timing{};
        std::filesystem::path parent_directory{};  // empty: the system's temporary directory
        bool tls = false;
        Durability durability = Durability::synced;
        Duration sync_interval = Config{}.sync_interval;
        std::uint16_t first_port = 0;  // of the first node, the others have the next ones; 0: any
    };

    virtual void kill(std::size_t member);
    // From now on, a member that ends is not a failure.
    void let_end() { may_end_ = true; }
    // Nor with this function, which is called for it and may start it again.
    void set_on_end(std::function<void(std::size_t member)> on_end) { on_end_ = std::move(on_end); }
    void set_links(std::size_t member, testkit::LinkMode mode);

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] pid_t pid(std::size_t member) const;
    // For direct links: where the member listens.
    [[nodiscard]] const std::string& address(std::size_t member) const {
        return addresses_[member];
    }
    [[nodiscard]] bool is_running(std::size_t member) const;
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

    // Returns false if `limit` passed before `done` was true. Throws Failure if a member ends that
    // was not killed. `idle` is called at intervals.
    bool pump_until(const std::function<bool()>& done, std::chrono::milliseconds limit);
    void set_idle(std::function<void()> idle) { idle_ = std::move(idle); }

protected:
    explicit ProcessCluster(Plan plan);
    ~ProcessCluster() = default;

    // A line of a member.
    virtual void take(std::size_t member, const std::string& line) = 0;
    // The last line that a member left which ended by itself.
    [[nodiscard]] virtual std::string last_line(std::size_t member) const = 0;

    [[nodiscard]] Config config_of(std::size_t member) const;
    [[nodiscard]] testkit::LinkMatrix* links() const { return links_.get(); }
    void start(std::size_t member, const ChildProcess::Program& program);
    void say(std::size_t member, const std::string& line);

private:
    void reserve_ports();
    void make_certificates();
    [[nodiscard]] TlsConfig tls_of(NodeId id) const;
    void look_after_members();

    Plan plan_;
    std::function<void()> idle_;
    std::function<void(std::size_t member)> on_end_;
    asio::io_context io_{1};
    asio::signal_set signals_{io_};
    bool interrupted_ = false;
    bool may_end_ = false;
    testkit::TempDirectory directory_;
    std::unique_ptr<testkit::LinkMatrix> links_;
    std::vector<std::string> addresses_;  // that were free
    std::vector<std::unique_ptr<ChildProcess>> members_;
};

}  // namespace mortise::cli
