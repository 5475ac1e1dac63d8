#include "embed/console/read_api.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "embed/console/answers.hpp"
#include <mortise/prometheus.hpp>

namespace mortise::console {

namespace {

constexpr std::size_t names_max = 200;
constexpr std::size_t names_usual = 50;
// How many holders and waiters all names of a page have together at most.
constexpr std::size_t listed_parties_max = 1'000;
constexpr std::size_t inspected_parties_max = 500;
// A look at who waits goes through so many names, and shows so many of them.
constexpr std::size_t scanned_names_max = 2'000;
constexpr std::size_t waits_max = 60;
constexpr std::size_t searched_names_max = 10'000;
constexpr std::size_t sessions_max = 500;
// Short values are shown of one name: they are what somebody looks for, such as an address. Of
// several names the members of barriers are not told: there may be many, which no limit above
// counts.
constexpr json_form::Detail of_one{.value_bytes = true, .value_bytes_max = 256, .slots_max = 64};
constexpr json_form::Detail of_several{.barrier_members = false, .slots_max = 64};

// A page of a listing, and whether more names follow it.
struct Page {
    std::vector<LockInfo> locks;
    bool has_more = false;
};

enum class Order : std::uint8_t { by_name, by_queue, by_age };

// Which names are wanted.
struct Search {
    std::string prefix;
    std::string contains;
    bool only_contended = false;
    Order order = Order::by_name;

    [[nodiscard]] bool is_plain() const {
        return contains.empty() && !only_contended && order == Order::by_name;
    }
    [[nodiscard]] bool fits(const LockInfo& lock) const {
        if (only_contended && lock.waiters_total == 0) return false;
        return lock.name.find(contains) != std::string::npos;
    }
};

// What a search has found.
struct Found {
    std::vector<LockInfo> locks;
    std::size_t fitting = 0;  // of the scanned ones
    std::size_t scanned = 0;
    bool has_more = false;  // names that were not scanned
    std::string last;       // the last one that was
};

Page page_of(Node& node, const std::string& prefix, const std::string& after, std::size_t limit) {
    Page page;
    std::error_code ec;
    page.locks = node.list(prefix, after, limit, ReadLevel::local, listed_parties_max, ec);
    if (ec) throw LockError{ec};
    std::size_t parties = 0;
    for (const auto& lock : page.locks)
        parties += lock.holders.size() + lock.waiters.size();
    page.has_more = page.locks.size() >= limit || parties >= listed_parties_max;
    return page;
}

// Of the oldest holder, which is the first; what nobody holds, or since when is unknown, is
// younger.
Duration age_of(const LockInfo& lock) {
    const bool is_known = lock.is_held() && lock.holders.front().age.is_set();
    return is_known ? lock.holders.front().age : Duration::zero();
}

// Those that are first in the order of the search.
void keep_first(std::vector<LockInfo>& locks, Order order, std::size_t limit) {
    if (order == Order::by_queue)
        std::ranges::stable_sort(locks, std::greater{}, &LockInfo::waiters_total);
    if (order == Order::by_age) std::ranges::stable_sort(locks, std::greater{}, age_of);
    if (locks.size() > limit) locks.resize(limit);
}

// In another order than that of the names, all are looked at before the first ones are known, as
// far as the bound allows.
Found search_for(Node& node, const Search& search, std::string after, std::size_t limit) {
    Found found;
    found.has_more = true;
    found.last = std::move(after);
    const bool is_sorted = search.order != Order::by_name;
    while (found.has_more && found.scanned < searched_names_max) {
        auto page = page_of(node, search.prefix, found.last, names_max);
        found.has_more = page.has_more;
        for (auto& lock : page.locks) {
            if (!is_sorted && found.locks.size() == limit) {
                found.has_more = true;
                return found;
            }
            ++found.scanned;
            found.last = lock.name;
            if (!search.fits(lock)) continue;
            ++found.fitting;
            found.locks.push_back(std::move(lock));
        }
        if (is_sorted && found.locks.size() > 2 * limit)
            keep_first(found.locks, search.order, limit);
    }
    keep_first(found.locks, search.order, limit);
    return found;
}

std::optional<Order> order_of(const std::string& word) {
    if (word.empty() || word == "name") return Order::by_name;
    if (word == "queue") return Order::by_queue;
    if (word == "age") return Order::by_age;
    return std::nullopt;
}

// A listing has no bytes of values. The value of a leader is looked up.
void add_leaders(Node& node, std::vector<LockInfo>& locks) {
    for (auto& lock : locks) {
        if (!lock.value || lock.holders_total != 1) continue;
        std::error_code ec;
        auto now = node.inspect(lock.name, ReadLevel::local, listed_parties_max, ec);
        if (!ec && json_form::leader_value(now)) lock = std::move(now);
    }
}

// Empty for a text that is no number from 1 to names_max.
std::optional<std::size_t> limit_of(const httplib::Request& request) {
    const auto text = request.get_param_value("limit");
    if (text.empty()) return names_usual;
    std::size_t limit = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, limit);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    if (limit < 1 || limit > names_max) return std::nullopt;
    return limit;
}

void answer_search(Node& node, const Search& search, std::string after, std::size_t limit,
                   httplib::Response& response) {
    const bool is_first = after.empty();
    auto found = search_for(node, search, std::move(after), limit);
    add_leaders(node, found.locks);
    const bool is_sorted = search.order != Order::by_name;
    const bool knows_all = is_first && !found.has_more;
    answer_json(response,
                {{"locks", json_list(found.locks, of_several)},
                 {"next", found.has_more && !is_sorted ? json_text(found.last) : Json(nullptr)},
                 {"total", knows_all ? Json(found.fitting) : Json(nullptr)},
                 {"scanned", found.scanned}});
}

Json json_of_seen(const MemberWatch::Seen& seen) {
    const Duration age = MemberWatch::Clock::now() - seen.at;
    Json json{{"answers", seen.answered}, {"age_ms", json_ms(age)}};
    if (!seen.answered) json["problem"] = json_text(seen.problem);
    if (!seen.has_status) return json;
    json["status"] = json_of(seen.status);
    json["status"].erase("members");  // each of 64 members knows 64
    return json;
}

std::uint64_t newest_commit(const Status& own, const std::map<NodeId, MemberWatch::Seen>& seen) {
    auto newest = own.commit_index;
    for (const auto& [id, each] : seen)
        newest = std::max(newest, each.status.commit_index);
    return newest;
}

// How many committed entries the member is known to lack. The leader knows best; otherwise what the
// member said last counts. Null: unknown.
Json lag_of(const Status& own, const MemberInfo& member, const MemberWatch::Seen* seen,
            std::uint64_t newest) {
    std::optional<std::uint64_t> has;
    if (seen != nullptr && seen->has_status) has = seen->status.applied_index;
    if (member.matching != 0) has = std::max(member.matching, has.value_or(0));
    if (own.leader == member.id) return 0;  // what is committed comes from it
    if (member.id == own.id) has = own.applied_index;
    if (!has) return nullptr;
    return newest > *has ? newest - *has : 0;
}

Json json_of_member(const Status& own, const MemberInfo& member,
                    const std::map<NodeId, MemberWatch::Seen>& all, std::uint64_t newest) {
    const auto found = all.find(member.id);
    const auto* const seen = found == all.end() ? nullptr : &found->second;
    auto json = json_of(member);
    json["self"] = member.id == own.id;
    json["leads"] = own.leader == member.id;
    json["lag"] = lag_of(own, member, seen, newest);
    json["seen"] = seen == nullptr ? Json(nullptr) : json_of_seen(*seen);
    return json;
}

}  // namespace

bool ReadApi::answer(const httplib::Request& request, httplib::Response& response) {
    try {
        return read(request, response);
    } catch (const LockError& error) {
        answer_error(response, error);
        return true;
    }
}

bool ReadApi::read(const httplib::Request& request, httplib::Response& response) {
    if (request.path == "/api/v1/status")
        status(response);
    else if (request.path == "/api/v1/locks")
        locks(request, response);
    else if (request.path == "/api/v1/lock")
        lock(request, response);
    else if (request.path == "/api/v1/waits")
        waits(request, response);
    else if (request.path == "/api/v1/activity")
        activity(request, response);
    else if (request.path == "/api/v1/sessions")
        sessions(response);
    else if (request.path == "/api/v1/events")
        streams_.answer(request, response);
    else if (request.path == "/metrics")
        response.set_content(prometheus_text(node_), std::string{prometheus_content_type});
    else
        return false;
    return true;
}

void ReadApi::status(httplib::Response& response) {
    const auto own = node_.status();
    const auto seen = members_.seen();
    const auto newest = newest_commit(own, seen);
    auto members = Json::array();
    for (const auto& member : own.members)
        members.push_back(json_of_member(own, member, seen, newest));
    const auto metrics = node_.metrics();
    answer_json(response,
                {{"node", json_of(own)},
                 {"members", std::move(members)},
                 {"names", metrics.names},
                 {"sessions", metrics.sessions},
                 {"console", {{"may_break", may_break_}, {"streams", streams_.count()}}}});
}

void ReadApi::activity(const httplib::Request& request, httplib::Response& response) {
    answer_json(response, json_of(node_.activity(request.get_param_value("prefix"))));
}

void ReadApi::locks(const httplib::Request& request, httplib::Response& response) {
    const auto limit = limit_of(request);
    if (!limit) return answer_error(response, {400, "bad_limit", "`limit` is 1 to 200"});
    const auto order = order_of(request.get_param_value("sort"));
    if (!order) return answer_error(response, {400, "bad_order", "`sort` is name, queue or age"});
    const Search search{.prefix = request.get_param_value("prefix"),
                        .contains = request.get_param_value("contains"),
                        .only_contended = request.get_param_value("contended") == "1",
                        .order = *order};
    auto after = request.get_param_value("after");
    if (!search.is_plain()) return answer_search(node_, search, std::move(after), *limit, response);
    auto page = page_of(node_, search.prefix, after, *limit);
    add_leaders(node_, page.locks);
    const auto next = page.has_more ? json_text(page.locks.back().name) : Json(nullptr);
    // Counting the names of a prefix is a scan of all of them.
    const auto total = search.prefix.empty() ? Json(node_.metrics().names) : Json(nullptr);
    answer_json(response,
                {{"locks", json_list(page.locks, of_several)}, {"next", next}, {"total", total}});
}

// By age, the oldest first: what somebody looks for has been there for long.
void ReadApi::sessions(httplib::Response& response) {
    std::error_code ec;
    auto sessions = node_.sessions(ReadLevel::local, ec);
    if (ec) throw LockError{ec};
    const auto total = sessions.size();
    std::ranges::stable_sort(sessions, std::greater{}, &SessionInfo::age);
    if (sessions.size() > sessions_max) sessions.resize(sessions_max);
    answer_json(response, {{"sessions", json_list(sessions)}, {"sessions_total", total}});
}

void ReadApi::lock(const httplib::Request& request, httplib::Response& response) {
    std::error_code ec;
    const auto found =
        node_.inspect(request.get_param_value("name"), ReadLevel::local, inspected_parties_max, ec);
    if (ec) throw LockError{ec};
    answer_json(response, json_of(found, of_one));
}

void ReadApi::waits(const httplib::Request& request, httplib::Response& response) {
    const auto prefix = request.get_param_value("prefix");
    auto after = request.get_param_value("after");
    auto locks = Json::array();
    std::size_t scanned = 0;
    bool has_more = true;
    while (has_more && scanned < scanned_names_max && locks.size() < waits_max) {
        const auto page = page_of(node_, prefix, after, names_max);
        has_more = page.has_more;
        for (const auto& lock : page.locks) {
            if (locks.size() >= waits_max) {
                has_more = true;
                break;
            }
            ++scanned;
            after = lock.name;
            if (!lock.waiters.empty()) locks.push_back(json_of(lock, of_several));
        }
    }
    answer_json(response, {{"locks", std::move(locks)},
                           {"scanned", scanned},
                           {"next", has_more ? json_text(after) : Json(nullptr)}});
}

}  // namespace mortise::console
