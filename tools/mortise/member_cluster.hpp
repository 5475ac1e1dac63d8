// A temporary cluster whose nodes are `mortise member ROLE`, to which lines of JSON are orders.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/mortise/json_form.hpp"
#include "tools/mortise/process_cluster.hpp"

namespace mortise::cli {

class MemberCluster final : public ProcessCluster {
public:
    struct MemberState {
        bool ready = false;
        bool leads = false;
        NodeId leader = 0;
        std::string why_not_ready;
    };
    using OnLine = std::function<void(std::size_t member, const Json& line)>;

    // `plan.name` is the role of the members.
    MemberCluster(const Plan& plan, OnLine on_line);

    // The words that each command of a member begins with.
    void set_runs(std::function<std::vector<std::string>(std::size_t member)> runs) {
        runs_ = std::move(runs);
    }
    void start(std::size_t member);
    void kill(std::size_t member) override;
    void say(std::size_t member, const Json& line) { ProcessCluster::say(member, line.dump()); }
    void say_to_all(const Json& line);

    [[nodiscard]] const MemberState& state(std::size_t member) const { return states_[member]; }
    // The member that a majority regards as the leader.
    [[nodiscard]] std::optional<std::size_t> leader() const;
    [[nodiscard]] bool all_ready() const;

private:
    void take(std::size_t member, const std::string& line) override;
    [[nodiscard]] std::string last_line(std::size_t member) const override;
    [[nodiscard]] ChildProcess::Program program_of(std::size_t member) const;
    [[nodiscard]] std::filesystem::path output_of(std::size_t member) const;

    std::string role_;
    OnLine on_line_;
    std::function<std::vector<std::string>(std::size_t member)> runs_;
    std::vector<MemberState> states_;
};

}  // namespace mortise::cli
