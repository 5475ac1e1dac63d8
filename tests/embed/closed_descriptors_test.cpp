// Programs that close the descriptors of their node, as daemons close all that they find. Each test
// runs in a child process, which opens files of its own at once, so that they get the closed
// numbers.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/support/child.hpp"
#include <mortise/testkit.hpp>

// These start threads in a child, which ThreadSanitizer does not allow.
#ifndef __SANITIZE_THREAD__

namespace mortise {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr int exit_failed = 1;

// The findings of a child go to a copy of standard error, which no child closes.
class Findings {
public:
    void expect(bool holds, const std::string& what) {
        if (holds) return;
        std::fprintf(stderr, "  not so: %s\n", what.c_str());
        failed_ = true;
    }
    [[nodiscard]] bool failed() const { return failed_; }

private:
    bool failed_ = false;
};

// Its exit status; 128 plus the signal if one killed it, such as the alarm.
int in_child(const std::function<void(Findings&)>& body) {
    const auto run = [&] {
        Findings findings;
        body(findings);
        return findings.failed() ? exit_failed : 0;
    };
    return tests::exit_of_child(run, 50);
}

std::set<int> open_numbers() {
    std::set<int> found;
    constexpr int most = 512;
    for (int number = 3; number < most; ++number)
        if (::fcntl(number, F_GETFD) >= 0) found.insert(number);
    return found;
}

void close_all() {
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
}

// Files of the program with all numbers that are free, and of each kind that a node has.
class HostFiles {
public:
    explicit HostFiles(fs::path directory) : directory_{std::move(directory)} {
        fs::create_directories(directory_);
    }
    // `kind` selects the kind of file that gets the first free number.
    void open(std::size_t count, std::size_t kind = 0) {
        for (std::size_t i = 0; i < count; ++i)
            files_.push_back(open_one(kind + i));
    }
    // The files are unchanged, open, and of the same kind.
    void check(Findings& findings) const {
        for (const auto& file : files_) {
            struct stat about {};
            const bool is_open = ::fstat(file.number, &about) == 0;
            findings.expect(is_open, "the host's " + std::to_string(file.number) + " is open");
            if (!is_open) continue;
            findings.expect(about.st_ino == file.inode && about.st_dev == file.device,
                            "the host's " + std::to_string(file.number) + " is the same file");
            if (file.path.empty()) continue;
            std::ifstream stream{file.path};
            const std::string text{std::istreambuf_iterator<char>{stream}, {}};
            findings.expect(text == content,
                            "the host's " + file.path.filename().string() + " is unchanged");
        }
    }

private:
    struct File {
        int number = -1;
        dev_t device = 0;
        ino_t inode = 0;
        fs::path path;  // empty: no file with content
    };
    static constexpr const char* content = "of the host";

    File open_one(std::size_t kind) {
        File file;
        switch (kind % 5) {
            case 1: file.number = ::epoll_create1(0); break;
            case 2: file.number = ::eventfd(0, EFD_NONBLOCK); break;
            case 3: file.number = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK); break;
            case 4: file.number = ::socket(AF_INET, SOCK_STREAM, 0); break;
            default:
                file.path = directory_ / std::to_string(files_.size());
                file.number = ::open(file.path.c_str(), O_RDWR | O_CREAT, 0600);
                if (::write(file.number, content, std::strlen(content)) < 0) ::_exit(9);
        }
        struct stat about {};
        ::fstat(file.number, &about);
        file.device = about.st_dev;
        file.inode = about.st_ino;
        return file;
    }

    fs::path directory_;
    std::vector<File> files_;
};

std::chrono::microseconds cpu_time() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

// Sanitizers make this slower.
bool is_idle(std::chrono::milliseconds time) {
    const auto before = cpu_time();
    std::this_thread::sleep_for(time);
    return cpu_time() - before < time / 4;
}

template <class Call>
std::chrono::milliseconds time_of(Call call) {
    const auto began = Clock::now();
    call();
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
}

std::string in_ms(std::chrono::milliseconds time) {
    return std::to_string(time.count()) + " ms";
}

constexpr auto prompt = 2s;  // normally it takes 0.2 s
constexpr auto session_ttl = 4s;

class ClosedDescriptors : public ::testing::Test {
protected:
    [[nodiscard]] Config config() const {
        auto config = Config::single_node(directory_.path() / "node");
        config.listen = "127.0.0.1:0";
        config.timing.call_timeout = 20s;
        config.timing.session_ttl = session_ttl;
        config.timing.election_timeout = 400ms;
        config.timing.heartbeat = 50ms;
        return config;
    }
    static bool is_ready(Node& node) { return node.wait_ready(Clock::now() + patience); }
    [[nodiscard]] fs::path host() const { return directory_.path() / "host"; }

    // The node has stopped and reported that, and ends at once; it leaves nothing behind.
    static void expect_stopped(Findings& findings, Node& node, Hold& hold) {
        findings.expect(is_lost_within(hold, prompt), "lost() fired in time");
        findings.expect(!hold.valid(), "the hold is not valid");
        findings.expect(hold.why_lost() == LossReason::node_stopped, "it says why");
        const auto status = node.status();
        findings.expect(status.stopped, "the node is stopped");
        findings.expect(status.why_stopped.find("closed descriptors of") != std::string::npos,
                        "it says what happened: " + status.why_stopped);
        std::error_code failed;
        const auto took = time_of([&] { std::ignore = node.acquire("more", failed); });
        findings.expect(failed == Errc::node_stopped && took < prompt, "calls say so at once");
    }
    static void expect_end(Findings& findings, std::unique_ptr<Node> node) {
        findings.expect(is_idle(1s), "nothing spins");
        const auto closing = time_of([&] { node->close(); });
        findings.expect(closing < prompt, "close() took " + in_ms(closing));
        const auto destroying = time_of([&] { node.reset(); });
        findings.expect(destroying < prompt, "the destructor took " + in_ms(destroying));
        findings.expect(is_idle(200ms), "nothing spins afterwards");
    }

    mortise::testkit::TempDirectory directory_{"mortise-closed"};
};

TEST_F(ClosedDescriptors, ANodeThatLosesAllStopsAndLeavesTheProgramsFilesAlone) {
    for (std::size_t kind = 0; kind < 5; ++kind) {
        const auto result = in_child([&](Findings& findings) {
            auto node = std::make_unique<Node>(config());
            findings.expect(is_ready(*node), "ready");
            auto hold = node->acquire("x");
            auto other = node->acquire("y");
            std::thread waiting{[&] {
                std::error_code failed;
                const auto took = time_of([&] { std::ignore = node->acquire("x", failed); });
                findings.expect(failed == Errc::node_stopped, "a call that waits is told");
                findings.expect(took < prompt, "it took " + in_ms(took));
            }};
            std::this_thread::sleep_for(200ms);
            HostFiles files{host() / std::to_string(kind)};
            close_all();
            files.open(60, kind);
            expect_stopped(findings, *node, hold);
            waiting.join();
            expect_end(findings, std::move(node));
            files.check(findings);
        });
        EXPECT_EQ(result, 0) << kind;
    }
    Node again{config()};
    EXPECT_TRUE(is_ready(again)) << again.status().why_not_ready;
}

TEST_F(ClosedDescriptors, ClosingTheNodeRightAfterItDoesNotWait) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                  auto node = std::make_unique<Node>(config());
                  findings.expect(is_ready(*node), "ready");
                  const auto hold = node->acquire("x");
                  HostFiles files{host()};
                  close_all();
                  files.open(60, 1);
                  const auto took = time_of([&] { node.reset(); });
                  findings.expect(took < prompt, "the destructor took " + in_ms(took));
                  findings.expect(!hold.valid(), "the hold is not valid");
                  findings.expect(is_idle(500ms), "nothing spins");
                  files.check(findings);
              }),
              0);
}

TEST_F(ClosedDescriptors, ANodeInMemoryStopsLikewise) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                  auto node = std::make_unique<Node>(Config::in_memory());
                  findings.expect(is_ready(*node), "ready");
                  auto hold = node->acquire("x");
                  HostFiles files{host()};
                  close_all();
                  files.open(20, 1);
                  expect_stopped(findings, *node, hold);
                  expect_end(findings, std::move(node));
                  files.check(findings);
              }),
              0);
}

// The node writes as much as it can meanwhile.
TEST_F(ClosedDescriptors, ABusyNodeStopsLikewise) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
        EXPECT_EQ(in_child([&](Findings& findings) {
                      auto node = std::make_unique<Node>(config());
                      findings.expect(is_ready(*node), "ready");
                      auto hold = node->acquire("x");
                      std::vector<std::thread> busy;
                      for (int i = 0; i < 2; ++i) {
                          busy.emplace_back([&, name = std::to_string(i)] {
                              std::error_code failed;
                              while (failed != Errc::node_stopped)
                                  std::ignore = node->acquire(name, failed);
                          });
                      }
                      std::this_thread::sleep_for(100ms);
                      HostFiles files{host() / std::to_string(kind)};
                      close_all();
                      files.open(60, kind);
                      expect_stopped(findings, *node, hold);
                      for (auto& thread : busy)
                          thread.join();
                      expect_end(findings, std::move(node));
                      files.check(findings);
                  }),
                  0);
    }
}

// Another node opens the same directory right after it: the former one still has it locked, or has
// ended.
TEST_F(ClosedDescriptors, TheDirectoryIsNotUsedTwice) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                  auto node = std::make_unique<Node>(config());
                  findings.expect(is_ready(*node), "ready");
                  const auto hold = node->acquire("x");
                  const auto token = hold.token();
                  close_all();
                  try {
                      const Node second{config()};
                      findings.expect(false, "the directory is refused");
                  } catch (const std::system_error& error) {
                      findings.expect(error.code() == DirectoryErrc::locked, error.what());
                  }
                  // Another process cannot use it either.
                  const auto other = in_child([&](Findings& of_child) {
                      try {
                          const Node second{config()};
                          of_child.expect(false, "the directory is refused to others");
                      } catch (const std::system_error& error) {
                          of_child.expect(error.code() == DirectoryErrc::locked, error.what());
                      }
                  });
                  findings.expect(other == 0, "it is refused to another process");
                  node->close();
                  Node second{config()};
                  findings.expect(is_ready(second), "after that it can be had");
                  findings.expect(second.acquire("x").token() > token, "tokens rise");
                  findings.expect(!hold.valid(), "the hold is not valid");
              }),
              0);
}

// --- one at a time -----------------------------------------------------------------------------

// The worst file that can get the number is one of the same kind.
std::size_t kind_of(const std::string& what) {
    const auto is = [&](const char* words) { return what.find(words) != std::string::npos; };
    return is("eventpoll") ? 1 : is("eventfd") ? 2 : is("timerfd") ? 3 : is("socket") ? 4 : 0;
}

// The node works as if nothing had happened, or it has stopped and reported that.
bool works(Node& node, const std::string& name) {
    std::error_code failed;
    auto hold = node.acquire(name, {.wait_max = 2s}, failed);
    if (hold) hold.set_value("value", failed);
    return !failed;
}

TEST_F(ClosedDescriptors, ANodeThatLosesOneGoesOnOrStops) {
    std::set<int> numbers;
    int stopped = 0;
    // The first child reports which descriptors exist. The pipe stays open, so that all children
    // get the same numbers.
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    ASSERT_EQ(in_child([&](Findings& findings) {
                  const auto before = open_numbers();
                  Node node{config()};
                  findings.expect(is_ready(node), "ready");
                  std::this_thread::sleep_for(300ms);
                  for (const int number : open_numbers()) {
                      if (before.contains(number)) continue;
                      if (::write(ends[1], &number, sizeof number) < 0) ::_exit(9);
                  }
              }),
              0);
    for (int number = 0; ::read(ends[0], &number, sizeof number) > 0;)
        numbers.insert(number);
    ASSERT_GE(numbers.size(), 14U);
    for (const int number : numbers) {
        const auto result = in_child([&](Findings& findings) {
            constexpr int says_stopped = 77;
            auto node = std::make_unique<Node>(config());
            findings.expect(is_ready(*node), "ready");
            std::this_thread::sleep_for(300ms);
            auto hold = node->acquire("x");
            std::error_code ignored;
            const auto what =
                fs::read_symlink("/proc/self/fd/" + std::to_string(number), ignored).string();
            HostFiles files{host() / std::to_string(number)};
            ::close(number);
            files.open(6, kind_of(what));
            const auto end = Clock::now() + 800ms;
            bool is_working = true;
            while (is_working && Clock::now() < end)
                is_working = works(*node, "other");
            const bool has_stopped = node->status().stopped;
            if (has_stopped) {
                expect_stopped(findings, *node, hold);
            } else {
                findings.expect(is_working && works(*node, "last"), "it works");
                findings.expect(hold.valid(), "its hold is valid");
                const auto report = Remote({node->status().address}, 5s).status().front();
                findings.expect(!report.error, "it answers: " + report.problem);
            }
            expect_end(findings, std::move(node));
            files.check(findings);
            if (findings.failed()) std::fprintf(stderr, "  of %d: %s\n", number, what.c_str());
            if (has_stopped && !findings.failed()) ::_exit(says_stopped);
        });
        EXPECT_TRUE(result == 0 || result == 77) << number << ": " << result;
        stopped += result == 77 ? 1 : 0;
    }
    // At least those of the loop, of its listener, and of the lock.
    EXPECT_GE(stopped, 6);
    ::close(ends[0]);
    ::close(ends[1]);
    Node again{config()};
    EXPECT_TRUE(is_ready(again)) << again.status().why_not_ready;
}

// --- others ------------------------------------------------------------------------------------

TEST_F(ClosedDescriptors, AGateSaysSoAndAdmitsNobody) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                  auto gate =
                      std::make_unique<FenceGate>(FenceGate::open(directory_.path() / "gate"));
                  const auto token = FencingToken::from_raw(7);
                  findings.expect(gate->check("x", token), "admitted");
                  HostFiles files{host()};
                  close_all();
                  files.open(40);
                  bool admitted = false;
                  for (const auto* resource : {"x", "y"}) {
                      try {
                          admitted = gate->admit(resource, FencingToken::from_raw(8),
                                                 [&] { admitted = true; });
                          findings.expect(false, "it throws");
                      } catch (const std::system_error& error) {
                          findings.expect(error.code() == DirectoryErrc::closed, error.what());
                      }
                  }
                  findings.expect(!admitted, "nobody is admitted");
                  const auto took = time_of([&] { gate.reset(); });
                  findings.expect(took < prompt, "its end took " + in_ms(took));
                  files.check(findings);
                  auto again = FenceGate::open(directory_.path() / "gate");
                  findings.expect(!again.check("x", FencingToken::from_raw(6)), "it remembers");
              }),
              0);
}

TEST_F(ClosedDescriptors, ARemoteCallEndsAndSaysSo) {
    EXPECT_EQ(
        in_child([&](Findings& findings) {
            // Accepts connections and never answers.
            const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            ::listen(listener, 8);
            sockaddr_in at{};
            socklen_t size = sizeof at;
            ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
            const auto address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
            std::string problem;
            std::thread caller{[&] { problem = Remote({address}, 30s).status().front().problem; }};
            std::this_thread::sleep_for(300ms);
            HostFiles files{host()};
            close_all();
            files.open(20, 1);
            const auto took = time_of([&] { caller.join(); });
            findings.expect(took < prompt, "it took " + in_ms(took));
            findings.expect(problem.find("closed descriptors") != std::string::npos, problem);
            files.check(findings);
        }),
        0);
}

TEST_F(ClosedDescriptors, AClusterOfTheTestingLibraryEndsLikewise) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                  auto cluster = std::make_unique<mortise::testkit::LocalCluster>(3);
                  auto hold = cluster->node(1).acquire("x");
                  HostFiles files{host()};
                  close_all();
                  files.open(200);
                  findings.expect(is_lost_within(hold, prompt), "lost() fired in time");
                  findings.expect(is_idle(1s), "nothing spins");
                  try {
                      cluster->isolate(0);
                      findings.expect(false, "it throws");
                  } catch (const std::system_error& error) {
                      findings.expect(error.code() == std::errc::bad_file_descriptor, error.what());
                  }
                  const auto took = time_of([&] { cluster.reset(); });
                  findings.expect(took < 3 * prompt, "its end took " + in_ms(took));
                  files.check(findings);
              }),
              0);
}

// As daemons do: the child closes only its own copies.
TEST_F(ClosedDescriptors, AChildOfAForkThatClosesAllHarmsNobody) {
    Node node{config()};
    ASSERT_TRUE(is_ready(node));
    const auto hold = node.acquire("x");
    EXPECT_EQ(in_child([&](Findings& findings) {
                  close_all();
                  HostFiles files{host()};
                  files.open(60);
                  std::error_code failed;
                  std::ignore = node.acquire("y", failed);
                  findings.expect(failed == Errc::forked, "it belongs to the parent");
                  { const auto gone = std::move(node); }
                  files.check(findings);
              }),
              0);
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(node.acquire("y").valid());
    EXPECT_FALSE(node.status().stopped) << node.status().why_stopped;
}

}  // namespace
}  // namespace mortise

#endif
