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
#include <mortise/testing.hpp>

namespace mortise::tests {

// One worker process (worker.cpp). Ends with the object.
class Process {
public:
    // What it does goes to the file `history`.
    Process(const std::string& program, const std::string& config, const std::string& history);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    void tell(const std::string& line);
    // The next line that begins so, as words; earlier ones that do not are passed over. Throws
    // std::runtime_error with all that was said when the time is over.
    std::vector<std::string> expect(const std::string& beginning, std::chrono::seconds patience);
    // The same, and every other line stays, for those that come in no known order.
    std::vector<std::string> await(const std::string& beginning, std::chrono::seconds patience);
    // Every line so far that begins so and was not passed over yet.
    std::vector<std::vector<std::string>> take_all(const std::string& beginning);
    void kill_hard();  // SIGKILL, and waits until it is gone
    void pause();      // SIGSTOP, and waits until it stands still
    void resume();     // SIGCONT
    // True when it stopped itself (SIGSTOP) and was not resumed since.
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
    std::string heard_;  // all of it, for the report
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
    // Waits until each running process says that it is ready.
    void expect_ready();
    // Whom the process takes for it.
    std::size_t leader_seen_by(std::size_t index);
    void isolate(std::size_t index) { links_.set_mode(index, testing::LinkMode::drop); }
    void heal(std::size_t index) { links_.set_mode(index, testing::LinkMode::pass); }

private:
    void make_certificates();
    std::string write_config(std::size_t index);
    [[nodiscard]] std::string name_of(std::size_t index) const;
    void tell_of_death(std::size_t index);

    testing::TempDirectory directory_{"mortise-process"};
    testing::LinkMatrix links_{3};
    TimingConfig timing_;
    std::vector<std::string> addresses_;
    // One file for each life, and one of when those began and were killed: see judged.py.
    std::filesystem::path histories_;
    HistoryWriter lives_;
    std::vector<int> life_;  // of each node, the first is 1
    std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace mortise::tests
