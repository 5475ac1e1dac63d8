// Three real processes, each with a node, on loopback with real disks; every link between them goes
// through a proxy that can drop its bytes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "tests/support/history_writer.hpp"
#include <mortise/config.hpp>
#include <mortise/testkit.hpp>

namespace mortise::tests {

// One worker process (worker.cpp). Ends with the object.
class Process {
public:
    // Its calls are recorded in the file `history`.
    Process(const std::string& program, const std::string& config, const std::string& history);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    void tell(const std::string& line);
    // The next line that begins with this text, as words; earlier lines are dropped. Throws
    // std::runtime_error with all output when the time is over.
    std::vector<std::string> expect(const std::string& beginning, std::chrono::seconds patience);
    // Likewise, but keeps all other lines, for lines in no known order.
    std::vector<std::string> await(const std::string& beginning, std::chrono::seconds patience);
    // All lines so far that begin with this text and were not dropped.
    std::vector<std::vector<std::string>> take_all(const std::string& beginning);
    void kill_hard();  // SIGKILL, and waits until it has ended
    void pause();      // SIGSTOP, and waits until it is stopped
    void resume();     // SIGCONT
    // True if it has stopped itself (SIGSTOP) and was not resumed since.
    [[nodiscard]] bool has_stopped();

private:
    void read_lines();
    [[nodiscard]] std::runtime_error did_not_come(const std::string& beginning) const;

    pid_t pid_ = -1;
    int in_ = -1;
    int out_ = -1;
    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<std::string> lines_;
    std::string heard_;  // the whole output, for the report
    std::thread reader_;
};

class ProcessCluster {
public:
    explicit ProcessCluster(TimingConfig timing);
    ~ProcessCluster();
    ProcessCluster(const ProcessCluster&) = delete;
    ProcessCluster& operator=(const ProcessCluster&) = delete;

    [[nodiscard]] Process& operator[](std::size_t index) { return *processes_.at(index); }
    [[nodiscard]] bool is_running(std::size_t index) const { return processes_[index] != nullptr; }
    [[nodiscard]] std::size_t size() const { return processes_.size(); }
    [[nodiscard]] std::filesystem::path directory() const { return directory_.path(); }
    void start(std::size_t index);
    void kill_hard(std::size_t index);
    void kill_all_at_once();
    // Waits until each running process reports that it is ready.
    void expect_ready();
    // The node that the process regards as the leader.
    std::size_t leader_seen_by(std::size_t index);
    void isolate(std::size_t index) { links_.set_mode(index, testkit::LinkMode::drop); }
    void heal(std::size_t index) { links_.set_mode(index, testkit::LinkMode::pass); }

private:
    void make_certificates();
    std::string write_config(std::size_t index);
    [[nodiscard]] std::string name_of(std::size_t index) const;
    void report_death(std::size_t index);

    testkit::TempDirectory directory_{"mortise-process"};
    testkit::LinkMatrix links_{3};
    TimingConfig timing_;
    std::vector<std::string> addresses_;
    // One file for each run, and one with the times of their starts and kills: see judged.py.
    std::filesystem::path histories_;
    HistoryWriter lives_;
    std::vector<int> life_;  // of each node, from 1
    std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace mortise::tests
