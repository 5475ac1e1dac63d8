// Unusual threads of the host: small stacks, many threads, a thread that is not the host's own.
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "tests/host/process.hpp"
#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>

namespace mortise::tests {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t small_stack = 512U << 10U;  // the usual size is several times as large
#else
constexpr std::size_t small_stack = 64U << 10U;
#endif

void* run(void* body) {
    (*static_cast<std::function<void()>*>(body))();
    return nullptr;
}

pthread_t start_small(std::function<void()>& body) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, small_stack);
    pthread_t thread{};
    IN_CHILD_EXPECT(pthread_create(&thread, &attributes, run, &body) == 0);
    pthread_attr_destroy(&attributes);
    return thread;
}

// Everything that a program calls on its own threads.
void do_everything(const std::filesystem::path& path) {
    Node node{Config::single_node(path / "node")};
    auto hold = node.acquire("x");
    hold.set_value(std::string(4'096, 'v'));
    IN_CHILD_EXPECT(hold.value().size() == 4'096);
    Mutex mutex{node, "m"};
    mutex.lock();
    mutex.unlock();
    const auto both = node.acquire_all({"a", "b"});
    IN_CHILD_EXPECT(node.list("").size() >= 3);
    IN_CHILD_EXPECT(node.inspect("x").is_held());
    IN_CHILD_EXPECT(node.status().ready);
    node.break_lock("x", hold.token(), "");
    auto gate = FenceGate::open(path / "gate");
    for (int token = 1; token < 100; ++token)
        IN_CHILD_EXPECT(gate.check("resource", FencingToken::from_raw(token)));
    const auto config = Config::from_string("data_dir = \"nowhere\"\n[log]\nlevel = \"off\"\n");
    IN_CHILD_EXPECT(config.log.level == LogLevel::off);
    node.close();
}

TEST(Stack, MayBeSmallOnAThread) {
    const testkit::TempDirectory directory{"stack"};
    EXPECT_EQ(status_of([&] {
                  std::function<void()> body = [&] { do_everything(directory.path()); };
                  pthread_join(start_small(body), nullptr);
              }),
              0);
}

TEST(Stack, MayBeSmallForTlsHandshakes) {
    EXPECT_EQ(status_of([&] {
                  std::function<void()> body = [] {
                      testkit::LocalCluster cluster{3, testkit::quick_timing(), testkit::Wire::tls};
                      IN_CHILD_EXPECT(cluster.node(0).acquire("x").valid());
                  };
                  pthread_join(start_small(body), nullptr);
              }),
              0);
}

TEST(Stack, MayBelongToNoThread) {
    const testkit::TempDirectory directory{"stack"};
    EXPECT_EQ(status_of([&] {
                  static ucontext_t own;
                  static ucontext_t fiber;
                  static std::filesystem::path path = directory.path();
                  std::vector<char> stack(std::size_t{256} << 10U);
                  ::getcontext(&fiber);
                  fiber.uc_stack.ss_sp = stack.data();
                  fiber.uc_stack.ss_size = stack.size();
                  fiber.uc_link = &own;
                  ::makecontext(
                      &fiber, [] { do_everything(path); }, 0);
                  ::swapcontext(&own, &fiber);
              }),
              0);
}

TEST(Stack, MayBeSmallOnAThousandThreads) {
    EXPECT_EQ(status_of([&] {
                  Node node{Config::in_memory()};
                  std::atomic<int> done{0};
                  std::function<void()> body = [&] {
                      const auto name = "n" + std::to_string(done.load() % 10);
                      IN_CHILD_EXPECT(node.acquire(name).valid());
                      Mutex mutex{node, "mutex of " + name};
                      mutex.lock();
                      mutex.unlock();
                      ++done;
                  };
                  std::vector<pthread_t> threads(1'000);
                  for (auto& thread : threads)
                      thread = start_small(body);
                  for (const auto& thread : threads)
                      pthread_join(thread, nullptr);
                  IN_CHILD_EXPECT(done == 1'000);
              }),
              0);
}

// New threads get a stack of the size of the limit, or the usual eight mebibytes without one.
TEST(Stack, MayBeLimitedInEveryWay) {
    for (const rlim_t bytes : {rlim_t{256U << 10U}, rlim_t{1U << 30U}, RLIM_INFINITY}) {
        const testkit::TempDirectory directory{"stack"};
        EXPECT_EQ(status_of([&] {
                      rlimit limit{};
                      ::getrlimit(RLIMIT_STACK, &limit);
                      limit.rlim_cur = bytes;
                      if (::setrlimit(RLIMIT_STACK, &limit) != 0) return;
                      std::function<void()> body = [&] { do_everything(directory.path()); };
                      pthread_join(start_small(body), nullptr);
                  }),
                  0)
            << bytes;
    }
}

}  // namespace
}  // namespace mortise::tests
