#include "tools/mortise/demo/scene.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <mortise/boot_clock.hpp>

namespace mortise::cli {

namespace {

std::string node_name(std::size_t member) {
    return "node " + std::to_string(member + 1);
}

std::chrono::nanoseconds now() {
    return BootClock::now().time_since_epoch();
}

std::string in_seconds(std::chrono::nanoseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f s", std::chrono::duration<double>{time}.count());
    return text;
}

std::chrono::nanoseconds time_in(const Json& line) {
    return std::chrono::nanoseconds{line.at("at").get<std::int64_t>()};
}

FencingToken token_in(const Json& line) {
    return FencingToken::from_raw(line.at("token").get<std::int64_t>());
}

}  // namespace

Scene::Scene(std::vector<std::string> locks, const std::filesystem::path& log_file, bool live)
    : locks_{std::move(locks)}, log_{log_file}, view_{live, [this] { return picture(); }} {}

void Scene::attach(MemberCluster& cluster) {
    cluster_ = &cluster;
}

void Scene::take(std::size_t member, const Json& line) {
    if (line.contains("write")) return on_write(member, line);
    if (line.contains("grant")) return on_grant(member, line);
    if (line.contains("lost")) return on_lost(member, line);
    if (line.contains("free")) return on_free(member, line);
    if (line.contains("done")) done_.insert(member);
}

void Scene::note(LogRecord::Kind kind, std::size_t member, const std::string& words) {
    LogRecord record;
    record.kind = kind;
    record.at = now();
    record.node = member + 1;
    log_.add(record);
    if (kind == LogRecord::Kind::kill) troubles_[member] = "killed";
    if (kind == LogRecord::Kind::partition) troubles_[member] = "cut off";
    if (kind == LogRecord::Kind::power_cut) {
        troubles_[member] = "without power";
        std::erase_if(holders_, [&](const auto& each) { return each.second.member == member; });
    }
    if (kind == LogRecord::Kind::restart || kind == LogRecord::Kind::heal) troubles_.erase(member);
    view_.event(words);
}

void Scene::on_write(std::size_t member, const Json& line) {
    LogRecord record;
    record.at = time_in(line);
    record.node = member + 1;
    record.worker = line.at("worker");
    record.lock = line.at("write");
    record.token = token_in(line);
    record.claims_valid = line.at("claims_valid");
    const bool accepted = log_.add(record);
    ++(accepted ? writes_ : refused_);
    cluster_->say(member, {{"worker", record.worker}, {"accepted", accepted}});
    if (record.claims_valid) return;
    view_.event(node_name(member) + ": a worker that noticed nothing writes to " + record.lock +
                " with token " + record.token.to_string() +
                (accepted ? ": accepted, nobody had it since"
                          : ": refused, the store has seen a greater one"));
}

void Scene::on_grant(std::size_t member, const Json& line) {
    const std::string lock = line.at("grant");
    const Holder holder{member, line.at("worker"), token_in(line)};
    ++grants_[member];
    newest_token_ = std::max(newest_token_, holder.token);
    // A line about the previous grant may arrive late: the greater token is the later grant.
    auto& known = holders_[lock];
    if (known.token < holder.token) known = holder;
    if (watched_ && member != *watched_ && expected_.contains(lock) && !passed_on_.contains(lock))
        tell_passed_on(lock, holder, time_in(line));
}

void Scene::tell_passed_on(const std::string& lock, const Holder& holder,
                           std::chrono::nanoseconds at) {
    const auto lost = lost_at_.find(lock);
    const auto since = lost == lost_at_.end() ? watched_since_ : lost->second;
    // The grant was made before the fault, and is reported only now.
    if (at < watched_since_) return;
    passed_on_.insert(lock);
    view_.event(node_name(holder.member) + " is granted " + lock + ", token " +
                holder.token.to_string() + ", " + in_seconds(at - since) +
                (lost == lost_at_.end() ? " after the node died" : " after that"));
}

void Scene::on_lost(std::size_t member, const Json& line) {
    LogRecord record;
    record.kind = LogRecord::Kind::lost;
    record.at = time_in(line);
    record.node = member + 1;
    record.worker = line.at("worker");
    record.lock = line.at("lost");
    record.token = token_in(line);
    log_.add(record);
    auto& holder = holders_[record.lock];
    if (holder.token == record.token) holder.lost = true;
    view_.event(node_name(member) + ": lost() fires for " + record.lock + ", token " +
                record.token.to_string());
    if (watched_ != member) return;
    lost_.insert(record.lock);
    expected_.insert(record.lock);
    lost_at_[record.lock] = record.at;
}

void Scene::on_free(std::size_t member, const Json& line) {
    const auto found = holders_.find(line.at("free").get<std::string>());
    if (found != holders_.end() && found->second.member == member &&
        found->second.token == token_in(line))
        holders_.erase(found);
}

void Scene::watch(std::size_t member) {
    watched_ = member;
    watched_since_ = now();
    expected_ = held_by(member);
    lost_at_.clear();
    lost_.clear();
    passed_on_.clear();
}

void Scene::watch_nobody() {
    watched_.reset();
}

std::set<std::string> Scene::held_by(std::size_t member) const {
    std::set<std::string> names;
    for (const auto& [lock, holder] : holders_)
        if (holder.member == member && !holder.lost) names.insert(lock);
    return names;
}

std::size_t Scene::grants_of(std::size_t member) const {
    const auto found = grants_.find(member);
    return found == grants_.end() ? 0 : found->second;
}

std::string Scene::picture_of(std::size_t member) const {
    const auto trouble = troubles_.find(member);
    if (trouble != troubles_.end()) return node_name(member) + " " + trouble->second;
    const auto& state = cluster_->state(member);
    return node_name(member) + (state.leads ? " leads" : state.ready ? " follows" : " not ready");
}

std::vector<std::string> Scene::picture() const {
    std::vector<std::string> lines{""};
    if (cluster_ == nullptr) return lines;
    for (std::size_t i = 0; i < cluster_->size(); ++i)
        lines[0] += (i == 0 ? "" : ", ") + picture_of(i);
    lines[0] +=
        "; " + std::to_string(writes_) + " writes, " + std::to_string(refused_) + " refused";
    for (const auto& lock : locks_) {
        const auto found = holders_.find(lock);
        if (found == holders_.end()) {
            lines.push_back(lock + "  -");
            continue;
        }
        const auto& holder = found->second;
        lines.push_back(lock + "  " + node_name(holder.member) + " worker " +
                        std::to_string(holder.worker) + ", token " + holder.token.to_string() +
                        (holder.lost ? " (lost)" : ""));
    }
    return lines;
}

}  // namespace mortise::cli
