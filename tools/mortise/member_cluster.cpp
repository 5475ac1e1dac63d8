#include "tools/mortise/member_cluster.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/member.hpp"

namespace mortise::cli {

MemberCluster::MemberCluster(const Plan& plan, OnLine on_line)
    : ProcessCluster{plan}, role_{plan.name}, on_line_{std::move(on_line)}, states_(plan.size) {}

std::filesystem::path MemberCluster::output_of(std::size_t member) const {
    return directory() / ("node-" + std::to_string(member + 1) + ".log");
}

ChildProcess::Program MemberCluster::program_of(std::size_t member) const {
    if (!runs_) return {"/proc/self/exe", {"mortise", "member", role_}, output_of(member)};
    auto words = runs_(member);
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    words.insert(words.end(), {self, "member", role_});
    return {words.front(), words, output_of(member)};
}

// With links, a member listens on any free port and reports it.
void MemberCluster::start(std::size_t member) {
    states_[member] = {};
    ProcessCluster::start(member, program_of(member));
    auto config = config_of(member);
    if (links() != nullptr) {
        config.listen = "127.0.0.1:0";
        config.peers[member].address = links()->address(member, member);
    }
    say(member, settings_of(config));
}

void MemberCluster::kill(std::size_t member) {
    ProcessCluster::kill(member);
    states_[member] = {};
}

void MemberCluster::say_to_all(const Json& line) {
    for (std::size_t i = 0; i < size(); ++i)
        say(i, line);
}

// If a process is killed while it writes a line, the incomplete line is dropped.
void MemberCluster::take(std::size_t member, const std::string& text) {
    const auto line = Json::parse(text, nullptr, false);
    if (line.is_discarded()) return;
    if (line.contains("problem"))
        throw Failure{line.at("code").get<ExitCode>(), line.at("problem").get<std::string>()};
    if (line.contains("listening")) {
        if (links() != nullptr) links()->set_target(member, line.at("listening"));
    } else if (line.contains("status")) {
        const auto& status = line.at("status");
        states_[member] = {status.at("ready"), status.at("standing") == "leader",
                           status.at("leader"), status.at("why")};
    } else {
        on_line_(member, line);
    }
}

std::string MemberCluster::last_line(std::size_t member) const {
    std::ifstream stream{output_of(member)};
    std::string last;
    for (std::string line; std::getline(stream, line);)
        if (!line.empty()) last = line;
    return last;
}

std::optional<std::size_t> MemberCluster::leader() const {
    std::map<NodeId, std::size_t> votes;
    for (const auto& state : states_)
        if (state.ready && ++votes[state.leader] > size() / 2)
            if (state.leader != 0) return state.leader - 1;
    return std::nullopt;
}

bool MemberCluster::all_ready() const {
    return std::ranges::all_of(states_, &MemberState::ready);
}

}  // namespace mortise::cli
