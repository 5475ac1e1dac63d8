#include "embed/door/sessions.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <sys/random.h>

#include "embed/door/shares.hpp"

namespace mortise::door {

namespace {

using http::Json;

// Whoever knows it can use the session, so nobody can guess it.
std::string random_id() {
    std::array<unsigned char, 16> bytes{};
    while (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        if (errno != EINTR) throw std::system_error{errno, std::system_category(), "getrandom"};
    }
    std::string id;
    for (const auto byte : bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        id += digits[byte >> 4U];
        id += digits[byte & 15U];
    }
    return id;
}

}  // namespace

Session::Session(Facts facts)
    : facts_{std::move(facts)},
      until_{facts_.is_kept_by_stream ? Time::max() : BootClock::now() + facts_.ttl} {}

bool Session::keep() {
    const std::lock_guard lock{mutex_};
    if (is_ended_) return false;
    if (!facts_.is_kept_by_stream) until_ = std::max(until_, BootClock::now() + facts_.ttl);
    return true;
}

void Session::end_at(Time time) {
    const std::lock_guard lock{mutex_};
    until_ = std::min(until_, time);
}

Session::Holds Session::end_now() noexcept {
    is_ended_ = true;
    Holds holds;
    holds.swap(holds_);
    return holds;
}

void Session::give_back(const Holds& holds) noexcept {
    ending_.request_stop();
    for (const auto& [id, grant] : holds)
        grant->unlock();
}

void Session::end() noexcept {
    Holds holds;
    {
        const std::lock_guard lock{mutex_};
        holds = end_now();
    }
    give_back(holds);
}

// Whoever keeps it at the same time does so before it ends, and is seen here, or is told that it
// has ended.
void Session::look(Time now) {
    Holds holds;
    {
        const std::lock_guard lock{mutex_};
        if (is_ended_ || waits_ != 0 || now < until_) return;
        holds = end_now();
    }
    give_back(holds);
}

bool Session::end_if_promised_over(Time now) {
    Holds holds;
    {
        const std::lock_guard lock{mutex_};
        if (is_ended_) return true;
        if (now < promised_) return false;
        holds = end_now();
    }
    give_back(holds);
    return true;
}

bool Session::has_ended() const {
    const std::lock_guard lock{mutex_};
    return is_ended_;
}

Session::Time Session::until() const {
    const std::lock_guard lock{mutex_};
    return is_ended_ ? Time{} : until_;
}

void Session::begin_wait() {
    const std::lock_guard lock{mutex_};
    ++waits_;
}

void Session::end_wait() {
    const std::lock_guard lock{mutex_};
    --waits_;
    const bool lives = !is_ended_ && !facts_.is_kept_by_stream;
    if (lives) until_ = std::max(until_, BootClock::now() + facts_.ttl);
}

bool Session::has_room() const {
    const std::lock_guard lock{mutex_};
    return holds_.size() + waits_ < facts_.holds_max;
}

std::string Session::add(std::shared_ptr<Grant> grant) {
    {
        const std::lock_guard lock{mutex_};
        if (!is_ended_) {
            auto id = std::to_string(++holds_made_);
            holds_[id] = std::move(grant);
            return id;
        }
    }
    grant->unlock();
    return {};
}

std::shared_ptr<Grant> Session::find(const std::string& hold) const {
    const std::lock_guard lock{mutex_};
    const auto found = holds_.find(hold);
    return found == holds_.end() ? nullptr : found->second;
}

std::shared_ptr<Grant> Session::take(const std::string& hold) {
    const std::lock_guard lock{mutex_};
    const auto found = holds_.find(hold);
    if (found == holds_.end()) return nullptr;
    auto taken = std::move(found->second);
    holds_.erase(found);
    return taken;
}

Session::Time Session::promise(const Grant& grant, Time limit) {
    const auto valid = std::min(grant.valid_until(), limit);
    const std::lock_guard lock{mutex_};
    if (is_ended_) return Time{};
    const auto time = std::min(valid, until_);
    promised_ = std::max(promised_, time);
    return time;
}

Session::Time Session::promised() const {
    const std::lock_guard lock{mutex_};
    return promised_;
}

Json Session::json(Time from) {
    Holds holds;
    {
        const std::lock_guard lock{mutex_};
        holds = holds_;
    }
    Json json{{"session", facts_.id},
              {"label", http::json_text(facts_.label)},
              {"ttl_ms", http::json_ms(facts_.ttl)}};
    const auto ends = until();
    json["valid_ms"] = ends == Time::max() ? Json(nullptr) : Json(ms_between(from, ends));
    json["holds"] = Json::array();
    for (const auto& [id, grant] : holds) {
        Json hold{{"hold", id}};
        hold.update(grant->json());
        hold["state"] = to_string(grant->state());
        hold["valid_ms"] = ms_between(from, promise(*grant));
        json["holds"].push_back(std::move(hold));
    }
    return json;
}

std::shared_ptr<Session> Sessions::open(Session::Facts facts) {
    facts.id = random_id();
    auto session = std::make_shared<Session>(std::move(facts));
    const auto& user = session->facts().user;
    const auto is_users = [&](const auto& each) { return each.second->facts().user == user; };
    const std::lock_guard lock{mutex_};
    if (has_ended_ || sessions_.size() >= sessions_max_) return nullptr;
    const auto most = static_cast<std::ptrdiff_t>(share_of(user, sessions_max_));
    if (std::ranges::count_if(sessions_, is_users) >= most) return nullptr;
    sessions_[session->facts().id] = session;
    return session;
}

std::shared_ptr<Session> Sessions::find(const std::string& id, const std::string& user) {
    const std::lock_guard lock{mutex_};
    const auto found = sessions_.find(id);
    const bool is_there = found != sessions_.end() && found->second->facts().user == user &&
                          !found->second->has_ended();
    return is_there ? found->second : nullptr;
}

bool Sessions::look() {
    std::vector<std::shared_ptr<Session>> sessions;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [id, session] : sessions_)
            sessions.push_back(session);
    }
    const auto now = BootClock::now();
    for (const auto& session : sessions)
        session->look(now);
    const std::lock_guard lock{mutex_};
    std::erase_if(sessions_, [](const auto& each) { return each.second->has_ended(); });
    return !sessions_.empty();
}

void Sessions::end_all() noexcept {
    std::unordered_map<std::string, std::shared_ptr<Session>> sessions;
    {
        const std::lock_guard lock{mutex_};
        has_ended_ = true;
        sessions.swap(sessions_);
    }
    for (const auto& [id, session] : sessions)
        session->end();
}

std::size_t Sessions::count() const {
    const std::lock_guard lock{mutex_};
    return sessions_.size();
}

}  // namespace mortise::door
