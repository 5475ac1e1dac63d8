// The state of the program stays as it is, whatever its node does; and signals reach only the
// program's threads, however many come.
#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/belongings.hpp"
#include "tests/host/process.hpp"
#include <mortise/async.hpp>
#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// --- the whole life of a node

// Three nodes with disks, of which one disappears; a gate; a remote; refused calls.
template <class InBetween>
void live(testkit::Wire wire, InBetween in_between) {
    auto timing = testkit::quick_timing();
    timing.close_timeout = 200ms;  // a node that is cut off waits this long for the others
    testkit::LocalCluster cluster{3, timing, wire};
    auto& node = cluster.node(0);
    in_between();
    auto hold = node.acquire("x");
    hold.set_value("value");
    in_between();
    IN_CHILD_EXPECT(!cluster.node(1).try_acquire("x"));
    cluster.kill(2);
    for (int i = 0; i < 20; ++i)  // the others write to it meanwhile
        IN_CHILD_EXPECT(node.acquire("n" + std::to_string(i)).valid());
    in_between();
    auto gate = FenceGate::open(cluster.directory() / "gate");
    IN_CHILD_EXPECT(gate.check("resource", hold.token()));
    in_between();
    cluster.restart(2);
    IN_CHILD_EXPECT(cluster.wait_ready(30s));
    std::error_code ec;
    IN_CHILD_EXPECT(!node.acquire("", ec) && ec == Errc::invalid_argument);
    in_between();
}

void nothing(int) {}

void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaddset(&action.sa_mask, SIGUSR2);
    ::sigaction(number, &action, nullptr);
}

// Every setting that a program may have differs from the usual one.
void make_unusual() {
    handle(SIGUSR1, nothing, 0);
    handle(SIGTERM, nothing, SA_RESTART | SA_ONSTACK);
    handle(SIGCHLD, SIG_IGN, SA_NOCLDWAIT);
    handle(SIGXFSZ, nothing, SA_NODEFER);
    handle(SIGHUP, SIG_IGN, 0);
    sigset_t some;
    sigemptyset(&some);
    for (const int number : {SIGUSR2, SIGWINCH, SIGRTMIN + 3})
        sigaddset(&some, number);
    ::pthread_sigmask(SIG_BLOCK, &some, nullptr);
    ::raise(SIGUSR2);  // stays pending
    ::umask(0137);
    std::setlocale(LC_ALL, "C.UTF-8");
    std::locale::global(std::locale{"C.UTF-8"});
    std::fesetround(FE_UPWARD);
    ::pthread_setname_np(::pthread_self(), "host");
    ::nice(1);
    std::printf("%s", "");
}

class Untouched : public ::testing::TestWithParam<testkit::Wire> {};

TEST_P(Untouched, IsWhateverBelongsToTheProgram) {
    for (const bool is_unusual : {false, true}) {
        EXPECT_EQ(status_of([&] {
                      if (is_unusual) make_unusual();
                      const auto before = belongings();
                      const auto compare = [&] {
                          const auto changed = difference(before, belongings());
                          if (changed.empty()) return;
                          std::fputs(changed.c_str(), stderr);
                          ::_exit(1);
                      };
                      live(GetParam(), compare);
                      compare();
                  }),
                  0)
            << (is_unusual ? "unusual" : "usual");
    }
}

// A program with the default action for SIGPIPE would end with it.
TEST_P(Untouched, IsAProgramThatEndsWithSigpipeByPeersThatVanish) {
    EXPECT_EQ(status_of([] {
                  handle(SIGPIPE, SIG_DFL, 0);
                  live(GetParam(), [] {});
              }),
              0);
}

INSTANTIATE_TEST_SUITE_P(OnWires, Untouched,
                         ::testing::Values(testkit::Wire::plain, testkit::Wire::tls),
                         [](const auto& of) {
                             return of.param == testkit::Wire::tls ? "Tls" : "Plain";
                         });

// --- threads of the library

std::set<std::string> thread_ids() {
    std::set<std::string> ids;
    for (const auto& task : fs::directory_iterator{"/proc/self/task"})
        ids.insert(task.path().filename().string());
    return ids;
}

// The number after `key` in /proc/self/task/ID/status.
std::string of_task(const std::string& id, const std::string& key) {
    std::ifstream status{"/proc/self/task/" + id + "/status"};
    for (std::string word; status >> word;)
        if (word == key + ":" && status >> word) return word;
    return {};
}

constexpr std::array own_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

// The host's signals that would be handled on that thread.
std::string handled_on(const std::string& id) {
    const auto word = of_task(id, "SigBlk");
    if (word.empty()) return {};  // the thread has ended
    const auto blocked = std::stoull(word, nullptr, 16);
    std::string handled;
    for (int number = 1; number < NSIG; ++number) {
        const bool never = number == SIGKILL || number == SIGSTOP || number == 32 || number == 33;
        const bool is_own =
            std::find(own_signals.begin(), own_signals.end(), number) != own_signals.end();
        const bool is_blocked = ((blocked >> static_cast<unsigned>(number - 1)) & 1U) != 0;
        if (!never && is_blocked == is_own) handled += std::to_string(number) + ' ';
    }
    return handled;
}

// The thread sanitizer starts a thread in the child, which is not ours.
bool is_of_sanitizer(const std::string& name) {
#ifdef __SANITIZE_THREAD__
    return name == "host_untouched";
#else
    (void)name;
    return false;
#endif
}

void expect_deaf_threads(const std::set<std::string>& of_host, std::set<std::string>& names) {
    const auto ids = thread_ids();
    IN_CHILD_EXPECT(ids.size() > of_host.size());
    for (const auto& id : ids) {
        if (of_host.contains(id)) continue;
        const auto name = of_task(id, "Name");
        if (is_of_sanitizer(name)) continue;
        names.insert(name);
        const auto handled = handled_on(id);
        if (handled.empty()) continue;
        std::fprintf(stderr, "%s: %s\n", name.c_str(), handled.c_str());
        ::_exit(1);
    }
}

TEST(Threads, TakeNoneOfTheSignalsOfTheProgram) {
    EXPECT_EQ(status_of([] {
                  const auto of_host = thread_ids();
                  std::set<std::string> names;
                  live(testkit::Wire::tls, [&] { expect_deaf_threads(of_host, names); });
                  for (const auto& name : names)
                      IN_CHILD_EXPECT(name.starts_with("mortise") || name.starts_with("rocksdb"));
              }),
              0);
}

// --- many signals

thread_local bool is_of_host = false;
std::atomic<int> handled{0};
std::atomic<bool> is_misplaced{false};

void note(int) {
    ++handled;
    if (!is_of_host) is_misplaced = true;
}

// Sends signals to the process, and to the thread that created it, a thousand times a second each.
class Storm {
public:
    explicit Storm(int flags) : target_{::pthread_self()} {
        is_of_host = true;
        handle(SIGUSR1, note, flags);
        handle(SIGALRM, note, flags);
        thread_ = std::thread{[this] {
            is_of_host = true;
            while (!is_over_) {
                ::kill(::getpid(), SIGALRM);
                ::pthread_kill(target_, SIGUSR1);
                std::this_thread::sleep_for(1ms);
            }
        }};
    }
    ~Storm() {
        is_over_ = true;
        thread_.join();
    }

private:
    pthread_t target_;
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

TEST(Threads, GoThroughAStormOfSignals) {
    for (const int flags : {0, SA_RESTART}) {
        EXPECT_EQ(status_of([&] {
                      const Storm storm{flags};
                      for (const auto wire : {testkit::Wire::plain, testkit::Wire::tls})
                          live(wire, [] {});
                      const testkit::TempDirectory directory{"storm"};
                      auto gate = FenceGate::open(directory.path() / "gate");
                      for (int token = 1; token < 500; ++token)
                          IN_CHILD_EXPECT(gate.check("resource", FencingToken::from_raw(token)));
                      IN_CHILD_EXPECT(handled > 1'000);
                      IN_CHILD_EXPECT(!is_misplaced);
                  }),
                  0);
    }
}

TEST(Threads, OfARemoteWithstandAStormOfSignals) {
    EXPECT_EQ(status_of([] {
                  testkit::LocalCluster cluster{1};
                  const Storm storm{0};
                  const auto address = cluster.node(0).status().address;
                  for (int i = 0; i < 300; ++i) {
                      Remote remote{{address}, 10s};
                      IN_CHILD_EXPECT(remote.list("").empty());
                      IN_CHILD_EXPECT(remote.status().size() == 1);
                  }
                  IN_CHILD_EXPECT(!is_misplaced);
              }),
              0);
}

}  // namespace
}  // namespace mortise::tests
