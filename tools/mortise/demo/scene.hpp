// Tracks which worker holds which lock, as the workers report it; and the log to which they write.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/mortise/demo/fenced_log.hpp"
#include "tools/mortise/demo/view.hpp"
#include "tools/mortise/member_cluster.hpp"

namespace mortise::cli {

class Scene {
public:
    Scene(std::vector<std::string> locks, const std::filesystem::path& log_file, bool live);

    // Sends the store's answers to the members. Must be called before anything else.
    void attach(MemberCluster& cluster);

    // A line was received from a member.
    void take(std::size_t member, const Json& line);
    void note(LogRecord::Kind kind, std::size_t member, const std::string& words);
    void say(const std::string& words) { view_.event(words); }
    void refresh() { view_.refresh(); }

    // From now on, events of this member and of the locks that it holds are displayed.
    void watch(std::size_t member);
    void watch_nobody();

    [[nodiscard]] std::set<std::string> held_by(std::size_t member) const;
    // The locks that the watched member lost and that others were granted since.
    [[nodiscard]] const std::set<std::string>& lost() const { return lost_; }
    [[nodiscard]] const std::set<std::string>& passed_on() const { return passed_on_; }
    [[nodiscard]] std::size_t grants_of(std::size_t member) const;
    [[nodiscard]] FencingToken newest_token() const { return newest_token_; }
    [[nodiscard]] bool is_done(std::size_t member) const { return done_.contains(member); }
    [[nodiscard]] const FencedLog& log() const { return log_; }

private:
    struct Holder {
        std::size_t member = 0;
        int worker = 0;
        FencingToken token;
        bool lost = false;
    };

    void on_write(std::size_t member, const Json& line);
    void on_grant(std::size_t member, const Json& line);
    void on_lost(std::size_t member, const Json& line);
    void on_free(std::size_t member, const Json& line);
    void tell_passed_on(const std::string& lock, const Holder& holder, std::chrono::nanoseconds at);
    [[nodiscard]] std::vector<std::string> picture() const;
    [[nodiscard]] std::string picture_of(std::size_t member) const;

    std::vector<std::string> locks_;
    FencedLog log_;
    View view_;
    MemberCluster* cluster_ = nullptr;
    std::map<std::string, Holder> holders_;
    std::map<std::size_t, std::size_t> grants_;
    std::map<std::size_t, std::string> troubles_;  // "killed", and so on
    std::set<std::size_t> done_;
    std::size_t writes_ = 0;
    std::size_t refused_ = 0;
    FencingToken newest_token_;  // of any lock

    std::optional<std::size_t> watched_;
    // the locks of the watched member that others are expected to get
    std::set<std::string> expected_;
    std::chrono::nanoseconds watched_since_{};
    std::map<std::string, std::chrono::nanoseconds> lost_at_;
    std::set<std::string> lost_;
    std::set<std::string> passed_on_;
};

}  // namespace mortise::cli
