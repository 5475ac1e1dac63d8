// What the demonstrations have in common: three processes with workers, which are started, told
// what to do and judged in the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/mortise/demo/scene.hpp"
#include "tools/mortise/demo/verdict.hpp"
#include "tools/mortise/member_cluster.hpp"

namespace mortise::cli {

struct DemoOptions {
    std::uint64_t seed = 0;          // 0: random
    std::filesystem::path keep_log;  // where to keep the fenced log; empty: it is removed
};

class Stage {
public:
    virtual ~Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    Verdict play();

protected:
    Stage(const DemoOptions& options, const MemberCluster::Plan& plan, Story story);

    // Between the begin, when everybody works, and the end.
    virtual void happen() = 0;
    // A line of a member that is not about a lock.
    virtual void take(std::size_t /*member*/, const Json& /*line*/) {}

    void start(std::size_t member);
    // The member keeps the next lock until it gets another order, or loses the lock.
    void make_it_hold(std::size_t member);
    void await(const std::function<bool()>& done, const char* what);
    void pause(std::chrono::milliseconds time);
    [[nodiscard]] MemberCluster& cluster() { return cluster_; }
    [[nodiscard]] Scene& scene() { return *scene_; }
    static std::string name(std::size_t member) { return "node " + std::to_string(member + 1); }
    // "a, b"
    static std::string list(const std::set<std::string>& words);

private:
    void begin();
    void end();

    std::vector<std::string> locks_{"orders/1", "orders/2", "orders/3"};
    const std::uint64_t seed_;
    const Story story_;
    std::uint64_t starts_ = 0;  // makes each start draw other choices
    MemberCluster cluster_;
    std::filesystem::path log_file_;
    std::unique_ptr<Scene> scene_;
};

Verdict play_faults(const DemoOptions& options);
Verdict play_power_cut(const DemoOptions& options);

}  // namespace mortise::cli
