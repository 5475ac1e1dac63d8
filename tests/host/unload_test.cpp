// A host unloads a plug-in that contains the library, and continues.
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/host/loaded_plugin.hpp"
#include "tests/host/process.hpp"

namespace mortise::tests {
namespace {

constexpr auto* file = "host_plugin.so";

using Parting = std::function<void(const LoadedPlugin&)>;

void close_it(const LoadedPlugin& plugin) {
    plugin.close();
}
void leave_it_open(const LoadedPlugin& plugin) {
    IN_CHILD_EXPECT(plugin.keep("kept"));
}
void forget_it(const LoadedPlugin& plugin) {
    IN_CHILD_EXPECT(plugin.keep("kept"));
    plugin.forget();
}

// Threads of the host that use the plug-in, and end after it was unloaded.
class Users {
public:
    explicit Users(const LoadedPlugin& plugin) {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([&, name = "n" + std::to_string(i)] {
                IN_CHILD_EXPECT(plugin.use(name.c_str()) != 0);
                used_.count_down();
                may_end_.wait();
            });
        }
        used_.wait();
    }
    void end() {
        may_end_.count_down();
        for (auto& thread : threads_)
            thread.join();
    }

private:
    static constexpr int count = 8;
    std::latch used_{count};
    std::latch may_end_{1};
    std::vector<std::thread> threads_;
};

void use_and_unload(const Parting& part) {
    std::optional<LoadedPlugin> plugin{MORTISE_PLUGIN};
    IN_CHILD_EXPECT(std::string{plugin->open(nullptr)}.empty());
    IN_CHILD_EXPECT(plugin->use("main") != 0);
    Users users{*plugin};
    part(*plugin);
    plugin.reset();
    users.end();
    // the fork handlers of the library are called
    IN_CHILD_EXPECT(status_of([] { ::_exit(7); }) == 7);
    std::thread{[] {}}.join();
}

// Without this control the other tests would prove nothing.
TEST(Unload, TakesAPlugInAwayThatOpenedNoNode) {
    EXPECT_EQ(status_of([] {
                  {
                      const LoadedPlugin plugin{MORTISE_PLUGIN};
                      IN_CHILD_EXPECT(is_mapped(file));
                  }
                  IN_CHILD_EXPECT(!is_mapped(file));
              }),
              0);
}

TEST(Unload, AfterItClosedItsNodeDoesNoHarm) {
    EXPECT_EQ(status_of([] { use_and_unload(close_it); }), 0);
}

TEST(Unload, WithItsNodeOpenDoesNoHarm) {
    EXPECT_EQ(status_of([] { use_and_unload(leave_it_open); }), 0);
}

TEST(Unload, WhileItsNodeRunsOnDoesNoHarm) {
    EXPECT_EQ(status_of([] { use_and_unload(forget_it); }), 0);
}

TEST(Unload, LeavesAPlugInLoadableAgain) {
    EXPECT_EQ(
        status_of([] {
            for (const auto& part : {Parting{close_it}, Parting{forget_it}, Parting{close_it}})
                use_and_unload(part);
        }),
        0);
}

}  // namespace
}  // namespace mortise::tests
