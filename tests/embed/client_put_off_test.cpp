// A client node whose member has no capacity for its read. A test plays the member.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "tests/support/plain_service.hpp"
#include "tests/unit/transport/network_support.hpp"
#include <mortise/mortise.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// The first read is put off. It says nothing else.
struct BusyService : transport::test::PlainService {
    transport::MemberStatus status() const override { return {}; }
    void list(transport::ListRequest /*request*/,
              std::function<void(transport::ListAnswer)> answer) override {
        if (asked++ == 0) {
            first = steady_clock::now();
            return answer(core::CallError::resource_exhausted);
        }
        second = steady_clock::now();
        answer(transport::ListReply{});
    }
    void change(core::MembershipGoal /*goal*/, core::Nanoseconds /*patience*/,
                std::function<void(transport::ChangeAnswer)> /*answer*/) override {}
    void break_lock(core::BreakLock /*request*/,
                    std::function<void(transport::ChangeAnswer)> /*answer*/) override {}
    core::Result<core::ClientId> admit(
        std::shared_ptr<transport::ClientConnection> connection) override {
        connections.push_back(std::move(connection));
        return core::ClientId{connections.size()};
    }

    std::vector<std::shared_ptr<transport::ClientConnection>> connections;
    std::atomic<int> asked = 0;
    steady_clock::time_point first;
    steady_clock::time_point second;
};

TEST(ClientPutOff, AReadIsAskedAgainAtOnceByAClientThatIdles) {
    BusyService service;
    asio::io_context io;
    const auto address = transport::test::free_address();
    transport::test::Node member{io,
                                 1,
                                 {address},
                                 [](transport::NetworkOptions&, core::Hello& hello) {
                                     hello.cluster = {7, 8};
                                 },
                                 &service};
    ASSERT_TRUE(member.start());
    auto work = asio::make_work_guard(io);
    std::thread thread{[&] { io.run(); }};
    {
        Config config;
        config.role = Role::client;
        config.peers.push_back({1, address});
        config.timing.session_ttl = 30s;
        Node client{config};
        EXPECT_TRUE(client.list("").empty());
    }
    work.reset();
    io.stop();
    thread.join();
    service.connections.clear();
    EXPECT_EQ(service.asked, 2);
    EXPECT_LT(service.second - service.first, 500ms);
}

}  // namespace
}  // namespace mortise
