// Three real processes, each with a node, on loopback with real disks; every link between them goes
// through a proxy that can drop its bytes.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "tests/support/history_writer.hpp"
#include "tools/mortise/process_cluster.hpp"
#include <mortise/testkit.hpp>

namespace mortise::tests {

class ProcessCluster;

// One worker process (worker.cpp).
class Process {
public:
    Process(ProcessCluster& cluster, std::size_t index) : cluster_{cluster}, index_{index} {}

    void tell(const std::string& line);
    // The next line that begins with this text, as words; earlier lines are dropped. Throws
    // std::runtime_error with all output when the time is over, or when the process has ended.
    std::vector<std::string> expect(const std::string& beginning, std::chrono::seconds patience);
    // Likewise, but keeps all other lines, for lines in no known order.
    std::vector<std::string> await(const std::string& beginning, std::chrono::seconds patience);
    // All lines so far that begin with this text and were not dropped.
    std::vector<std::vector<std::string>> take_all(const std::string& beginning);
    void pause();   // SIGSTOP, and waits until it is stopped
    void resume();  // SIGCONT
    // True if it has stopped itself (SIGSTOP) and was not resumed since.
    [[nodiscard]] bool has_stopped();

private:
    friend ProcessCluster;

    void hear(const std::string& line);
    void await_line(const std::string& beginning, std::chrono::seconds patience,
                    const std::function<bool()>& came);

    ProcessCluster& cluster_;
    std::size_t index_;
    std::deque<std::string> lines_;
    std::string heard_;  // the whole output, for the report
};

class ProcessCluster final : public cli::ProcessCluster {
public:
    explicit ProcessCluster(TimingConfig timing);
    ~ProcessCluster();
    ProcessCluster(const ProcessCluster&) = delete;
    ProcessCluster& operator=(const ProcessCluster&) = delete;

    [[nodiscard]] Process& operator[](std::size_t index) { return processes_.at(index); }
    void start(std::size_t index);
    void kill_hard(std::size_t index);  // SIGKILL, and waits until it has ended
    void kill_all_at_once();
    // Waits until each running process reports that it is ready.
    void expect_ready();
    // The node that the process regards as the leader.
    std::size_t leader_seen_by(std::size_t index);
    // Waits until one process is, or is not, connected with the other.
    void await_connected(std::size_t index, std::size_t other, bool is_connected);
    void isolate(std::size_t index) { set_links(index, testkit::LinkMode::drop); }
    void heal(std::size_t index) { set_links(index, testkit::LinkMode::pass); }
    [[nodiscard]] std::filesystem::path data(std::size_t index) const;

private:
    friend Process;

    void take(std::size_t index, const std::string& line) override;
    [[nodiscard]] std::string last_line(std::size_t index) const override;
    [[nodiscard]] std::string write_config(std::size_t index) const;
    [[nodiscard]] std::string name_of(std::size_t index) const;
    void report_death(std::size_t index);

    // The words of the status line.
    std::vector<std::string> ask_until(
        std::size_t index, const std::function<bool(const std::vector<std::string>&)>& is_wanted);

    // One file for each run, and one with the times of their starts and kills: see judged.py.
    std::filesystem::path histories_;
    HistoryWriter lives_;
    std::vector<int> life_;  // of each node, from 1
    std::deque<Process> processes_;
};

}  // namespace mortise::tests
