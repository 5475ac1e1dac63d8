#include "embed/door/sessions.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>

#include <sys/random.h>

#include "embed/door/claim.hpp"
#include "embed/door/shares.hpp"
#include <mortise/errc.hpp>

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
    if (is_ended_ || is_closing_) return false;
    begin_time_anew();
    return true;
}

void Session::begin_time_anew() {
    if (!facts_.is_kept_by_stream && !is_closing_)
        until_ = std::max(until_, BootClock::now() + facts_.ttl);
}

void Session::end_at(Time time) {
    const std::lock_guard lock{mutex_};
    until_ = std::min(until_, time);
}

// When the door closes, the clients were told, or their promises are over: the holds are released.
Session::Ended Session::end_now(bool is_lapse) noexcept {
    is_ended_ = true;
    waits_ = 0;
    Ended ended;
    ended.claims.swap(claims_);
    ended.is_lapse = is_lapse && !is_closing_;
    return ended;
}

void Session::give_back(const Ended& ended) noexcept {
    ending_.request_stop();
    for (const auto& [id, each] : ended.claims) {
        if (!each.grant) continue;
        ended.is_lapse ? each.grant->lapse() : each.grant->unlock();
    }
}

void Session::end() noexcept {
    Ended ended;
    {
        const std::lock_guard lock{mutex_};
        ended = end_now(false);
    }
    give_back(ended);
}

void Session::close() noexcept {
    {
        const std::lock_guard lock{mutex_};
        is_closing_ = true;
        until_ = std::min(until_, promised_);
    }
    ending_.request_stop();
}

bool Session::holds_anything() const {
    return std::ranges::any_of(claims_, [](const auto& each) {
        return each.second.grant && !each.second.grant->failure();
    });
}

// Whoever keeps it at the same time does so before it ends, and is seen here, or is told that it
// has ended.
void Session::look(Time now) {
    Ended ended;
    {
        const std::lock_guard lock{mutex_};
        const bool is_over = now >= until_ || (is_closing_ && !holds_anything());
        if (is_ended_ || waits_ != 0 || !is_over) return;
        ended = end_now(true);
    }
    give_back(ended);
}

bool Session::end_if_promised_over(Time now) {
    Ended ended;
    {
        const std::lock_guard lock{mutex_};
        if (is_ended_) return true;
        if (now < promised_) return false;
        ended = end_now(true);
    }
    give_back(ended);
    return true;
}

bool Session::has_ended() const {
    const std::lock_guard lock{mutex_};
    return is_ended_;
}

std::error_code Session::failure() const {
    const std::lock_guard lock{mutex_};
    if (is_closing_) return Errc::node_stopped;
    return is_ended_ ? make_error_code(Errc::session_expired) : std::error_code{};
}

Session::Time Session::until() const {
    const std::lock_guard lock{mutex_};
    return is_ended_ ? Time{} : until_;
}

std::string Session::new_id() {
    const std::lock_guard lock{mutex_};
    return std::to_string(++last_id_);
}

std::shared_ptr<Claim> Session::enter(const std::shared_ptr<Claim>& claim,
                                      std::uint64_t connection) {
    const auto& key = claim->key().text;
    const std::lock_guard lock{mutex_};
    for (const auto& [id, each] : claims_) {
        const bool is_same = !key.empty() && each.claim->key().text == key;
        if (!is_same || !each.claim->join(connection)) continue;
        begin_time_anew();
        return each.claim;
    }
    if (claims_.size() >= facts_.holds_max) return nullptr;
    (void)claim->join(connection);
    if (is_ended_ || is_closing_) return claim;  // and settle() says so
    claims_[claim->id()].claim = claim;
    ++waits_;
    return claim;
}

bool Session::settle(const std::string& id, const std::shared_ptr<Grant>& grant) noexcept {
    {
        const std::lock_guard lock{mutex_};
        const auto found = claims_.find(id);
        if (found != claims_.end()) {
            --waits_;
            begin_time_anew();
            const bool stays = grant && !is_closing_;
            found->second.grant = stays ? grant : nullptr;
            if (!stays) claims_.erase(found);
            if (!is_closing_) return true;
        }
    }
    if (grant) grant->unlock();
    return false;
}

std::shared_ptr<Grant> Session::find(const std::string& hold) const {
    const std::lock_guard lock{mutex_};
    const auto found = claims_.find(hold);
    return found == claims_.end() ? nullptr : found->second.grant;
}

std::shared_ptr<Grant> Session::take(const std::string& hold) {
    const std::lock_guard lock{mutex_};
    const auto found = claims_.find(hold);
    if (found == claims_.end() || !found->second.grant) return nullptr;
    auto taken = std::move(found->second.grant);
    claims_.erase(found);
    return taken;
}

bool Session::has_had(const std::string& hold) const {
    std::size_t id = 0;
    std::from_chars(hold.data(), hold.data() + hold.size(), id);
    const std::lock_guard lock{mutex_};
    return id != 0 && id <= last_id_ && hold == std::to_string(id) && !claims_.contains(hold);
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
    Claims claims;
    {
        const std::lock_guard lock{mutex_};
        claims = claims_;
    }
    Json json{{"session", facts_.id},
              {"label", http::json_text(facts_.label)},
              {"ttl_ms", http::json_ms(facts_.ttl)}};
    const auto ends = until();
    json["valid_ms"] = ends == Time::max() ? Json(nullptr) : Json(ms_between(from, ends));
    json["holds"] = Json::array();
    for (const auto& [id, each] : claims) {
        if (!each.grant) continue;
        Json hold{{"hold", id}};
        hold.update(each.grant->json());
        const auto& key = each.claim->key().text;
        if (!key.empty()) hold["key"] = http::json_text(key);
        const auto state = each.grant->state();
        hold["state"] = to_string(state);
        if (state == HoldState::lost) hold["why"] = to_string(each.grant->why_lost());
        hold["valid_ms"] = ms_between(from, promise(*each.grant));
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
    if (is_closing_ || sessions_.size() >= sessions_max_) return nullptr;
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

void Sessions::close() noexcept {
    const std::lock_guard lock{mutex_};
    is_closing_ = true;
    for (const auto& [id, session] : sessions_)
        session->close();
}

std::size_t Sessions::count() const {
    const std::lock_guard lock{mutex_};
    return sessions_.size();
}

}  // namespace mortise::door
