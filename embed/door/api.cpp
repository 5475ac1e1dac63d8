#include "embed/door/api.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "embed/http/http_server.hpp"
#include <mortise/election.hpp>
#include <mortise/errc.hpp>

namespace mortise::door {

namespace {

using http::answer_json;
using http::Json;
using http::json_of;
using namespace std::chrono_literals;

constexpr Duration ttl_usual = 10s;
constexpr Duration ttl_min = 1s;
constexpr Duration ttl_max = 1h;
constexpr std::uint32_t names_max = 1'000;
constexpr std::uint32_t names_usual = 100;
constexpr std::size_t parties_max = 1'000;
constexpr std::size_t key_bytes_max = 64;  // each hold keeps its key
// Calls that wait for the cluster, each on the thread of its connection. The others go on.
constexpr int blocking_max = 64;
// Streams of events, each of which may occupy a callback thread of the node while its client is
// slow.
constexpr int feeds_max = 64;

// Throws Refused when there are too many.
class Blocking {
public:
    explicit Blocking(std::atomic<int>& count) : count_{count} {
        if (count_.fetch_add(1) < blocking_max) return;
        --count_;
        throw Refused{{503, "resource_exhausted", "too many requests wait for the cluster"}};
    }
    ~Blocking() { --count_; }
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

private:
    std::atomic<int>& count_;
};

void demand(const Caller& caller, AccessRight right, std::string_view name) {
    if (caller.may(right, name)) return;
    throw Refused{{403, "permission_denied",
                   "the roles and rules of " + caller.user + " do not include `" +
                       std::string{to_string(right)} + "` here"}};
}

http::Refusal session_unknown() {
    return {404, "session_expired",
            "there is no such session: it has ended, or another node has it"};
}

// A client that repeats a release learns that nothing is left to do.
[[noreturn]] void refuse_hold(const Session& session, const std::string& hold) {
    if (session.has_had(hold)) throw Refused{{410, "not_held", "it was released before"}};
    throw Refused{{404, "not_found", "the session has never had such a hold"}};
}

RequestKey key_of(const httplib::Request& request) {
    constexpr auto header = "Idempotency-Key";
    const auto count = http::count(request, header);
    if (count == 0) return {};
    auto text = request.get_header_value(header);
    if (count > 1 || text.empty() || text.size() > key_bytes_max)
        refuse("`Idempotency-Key` is given once, and has 1 to 64 bytes");
    return {std::move(text), std::hash<std::string>{}(request.body)};
}

ReadLevel level_of(Asked& asked) {
    return asked.flag("local") ? ReadLevel::local : ReadLevel::linearizable;
}

Json json_of_leader(const std::optional<Leader>& leader) {
    if (!leader) return {{"leader", nullptr}};
    return {{"leader",
             {{"value", http::json_text(leader->value)},
              {"token", to_string(leader->token)},
              {"node", leader->node}}}};
}

std::string text_of_event(const Event& event) {
    std::string text = "event: " + std::string{to_string(event.kind)} + "\n";
    if (event.position.is_set()) text += "id: " + event.position.to_string() + "\n";
    return text + "data: " + http::text_of(json_of(event)) + "\n\n";
}

// A client that lost its connection says in a header after which event it continues.
ObserveOptions observing(const httplib::Request& request, Asked& asked) {
    ObserveOptions options;
    options.only_this_name = asked.flag("exact");
    auto from = request.get_header_value("Last-Event-ID");
    if (asked.has("from")) from = asked.text("from");
    if (from.empty()) return options;
    options.from = Position::from_string(from);
    if (!options.from) refuse("`from` is the id of an event");
    return options;
}

}  // namespace

void Api::answer(const Request& request, httplib::Response& response) {
    switch (request.found.act) {
        case Act::hold: return stream_hold(request, false);
        case Act::lead: return stream_hold(request, true);
        case Act::leader: return leader(request, response);
        case Act::follow: return follow(request);
        case Act::list: return list(request, response);
        case Act::inspect: return inspect(request, response);
        case Act::events: return events(request);
        case Act::status: return status(response);
        case Act::description: return response.set_content(description, "application/json");
        case Act::open_session: return open_session(request, response);
        case Act::show_session:
            return answer_json(response, session_of(request)->json(request.received));
        case Act::end_session: return end_session(request, response);
        case Act::keep_session: {
            const auto session = session_of(request);
            if (!session->keep()) throw Refused{session_unknown()};
            return answer_json(response, session->json(request.received));
        }
        case Act::acquire: return acquire(request);
        case Act::show_hold: return show_hold(request, response);
        case Act::release: return release(request, response);
    }
}

std::shared_ptr<void> Api::place_for(const Caller& caller) {
    if (!parked_.has_room()) throw Refused{{503, "resource_exhausted", "too many streams"}};
    if (auto place = shares_.take(caller.user, parked_.most())) return place;
    throw Refused{{503, "resource_exhausted", caller.user + " has too many streams"}};
}

std::shared_ptr<Feed> Api::new_feed(const Caller& caller, std::string head, std::string alive) {
    auto shared = place_for(caller);
    const auto before = feeds_->fetch_add(1);
    std::shared_ptr<void> place{nullptr,
                                [feeds = feeds_, shared = std::move(shared)](void*) { --*feeds; }};
    if (before >= feeds_max)
        throw Refused{{503, "resource_exhausted", "too many streams of events"}};
    return std::make_shared<Feed>(parked_.waker(), std::move(head), std::move(alive),
                                  std::move(place));
}

void Api::park(std::shared_ptr<http::Parked> parked) {
    parked_.park(std::move(parked), http::HttpServer::current().give_away());
}

Session::Facts Api::facts_of(Asked& asked, const Caller& caller) const {
    Session::Facts facts;
    facts.user = caller.user;
    facts.label = asked.text("label");
    facts.ttl = asked.time("ttl").value_or(ttl_usual);
    facts.holds_max = options_.holds_per_session;
    if (facts.ttl < ttl_min || facts.ttl > ttl_max) refuse("`ttl` is 1s to 1h");
    return facts;
}

std::shared_ptr<Session> Api::opened(Session::Facts facts) {
    auto session = sessions_.open(std::move(facts));
    if (!session)
        throw Refused{
            {503, "resource_exhausted", "there are too many sessions, or the door closes"}};
    parked_.waker()->wake();  // it looks whose time is over
    return session;
}

std::shared_ptr<Session> Api::session_of(const Request& request) {
    auto session = sessions_.find(request.part(0), request.caller.user);
    if (!session) throw Refused{session_unknown()};
    return session;
}

void Api::stream_hold(const Request& request, bool leads) {
    auto asked = Asked::of_target(request.http.target);
    auto facts = facts_of(asked, request.caller);
    facts.is_kept_by_stream = !asked.flag("confirm");
    auto wish = wish_of(asked, request.part(0), options_.wait_max, leads ? "value" : nullptr);
    asked.refuse_the_rest();
    demand(request.caller, AccessRight::acquire, request.part(0));
    auto place = place_for(request.caller);
    const auto session = opened(std::move(facts));
    try {
        const auto stream =
            std::make_shared<HoldStream>(session, request.received, std::move(place));
        stream->begin(node_, std::move(wish), parked_.waker());
        park(stream);
    } catch (...) {
        session->end();
        throw;
    }
}

void Api::open_session(const Request& request, httplib::Response& response) {
    auto asked = Asked::of_body(request.http.body);
    auto facts = facts_of(asked, request.caller);
    asked.refuse_the_rest();
    if (!request.caller.may_somewhere(AccessRight::acquire))
        throw Refused{{403, "permission_denied", request.caller.user + " may not acquire"}};
    facts.locker = Locker{node_, facts.label};
    const auto session = opened(std::move(facts));
    response.status = 201;
    answer_json(response, session->json(request.received));
}

void Api::end_session(const Request& request, httplib::Response& response) {
    const auto session = session_of(request);
    session->end();
    response.status = 204;
}

void Api::acquire(const Request& request) {
    const auto session = session_of(request);
    auto asked = Asked::of_body(request.http.body);
    auto wish = wish_of(asked, asked.text("name"), options_.wait_max,
                        asked.has("campaign") ? "campaign" : nullptr);
    asked.refuse_the_rest();
    for (const auto& name : names_of(wish))
        demand(request.caller, AccessRight::acquire, name);
    const auto answer =
        std::make_shared<AcquireAnswer>(session, request.received, place_for(request.caller));
    answer->begin(node_, std::move(wish), parked_.waker(), key_of(request.http));
    park(answer);
}

void Api::show_hold(const Request& request, httplib::Response& response) {
    const auto session = session_of(request);
    const auto grant = session->find(request.part(1));
    if (!grant) refuse_hold(*session, request.part(1));
    if (const auto failure = grant->failure()) throw Refused{grant->refusal(failure)};
    Json json{{"session", request.part(0)}, {"hold", request.part(1)}};
    json.update(grant->json());
    json["state"] = to_string(grant->state());
    json["valid_ms"] = ms_between(request.received, session->promise(*grant));
    answer_json(response, json);
}

void Api::release(const Request& request, httplib::Response& response) {
    const Blocking blocking{blocking_};
    const auto session = session_of(request);
    const auto grant = session->take(request.part(1));
    if (!grant) refuse_hold(*session, request.part(1));
    if (const auto error = grant->release()) throw Refused{grant->refusal(error)};
    response.status = 204;
}

void Api::list(const Request& request, httplib::Response& response) {
    auto asked = Asked::of_target(request.http.target);
    const auto prefix = asked.text("prefix");
    const auto after = asked.text("after");
    const auto limit = asked.number("limit").value_or(names_usual);
    const auto level = level_of(asked);
    asked.refuse_the_rest();
    if (limit < 1 || limit > names_max) refuse("`limit` is 1 to 1000");
    demand(request.caller, AccessRight::observe, prefix);
    const Blocking blocking{blocking_};
    std::error_code error;
    const auto locks = node_.list(prefix, after, limit, level, parties_max, error);
    if (error) throw LockError{error};
    std::size_t parties = 0;
    for (const auto& lock : locks)
        parties += lock.holders.size() + lock.waiters.size();
    const bool has_more = locks.size() >= limit || parties >= parties_max;
    answer_json(response,
                {{"locks", http::json_list(locks)},
                 {"next", has_more ? http::json_text(locks.back().name) : Json(nullptr)}});
}

void Api::inspect(const Request& request, httplib::Response& response) {
    auto asked = Asked::of_target(request.http.target);
    const auto level = level_of(asked);
    asked.refuse_the_rest();
    demand(request.caller, AccessRight::observe, request.part(0));
    const Blocking blocking{blocking_};
    std::error_code error;
    const auto lock = node_.inspect(request.part(0), level, parties_max, error);
    if (error) throw LockError{error};
    answer_json(response, json_of(lock, {.value_bytes = true}));
}

void Api::leader(const Request& request, httplib::Response& response) {
    Asked::of_target(request.http.target).refuse_the_rest();
    demand(request.caller, AccessRight::observe, request.part(0));
    const Blocking blocking{blocking_};
    answer_json(response, json_of_leader(Election{node_, request.part(0)}.leader()));
}

void Api::follow(const Request& request) {
    Asked::of_target(request.http.target).refuse_the_rest();
    demand(request.caller, AccessRight::observe, request.part(0));
    const auto feed = new_feed(request.caller, stream_head("application/x-ndjson"), "\n");
    const Blocking blocking{blocking_};
    feed->keep(Election{node_, request.part(0)}.observe(
        [weak = std::weak_ptr{feed}](const std::optional<Leader>& leader) {
            if (const auto told = weak.lock())
                told->put(http::text_of(json_of_leader(leader)) + "\n");
        }));
    park(feed);
}

void Api::events(const Request& request) {
    auto asked = Asked::of_target(request.http.target);
    const auto prefix = asked.text("prefix");
    const auto options = observing(request.http, asked);
    asked.refuse_the_rest();
    demand(request.caller, AccessRight::observe, prefix);
    const auto feed = new_feed(request.caller, stream_head("text/event-stream") + "retry: 2000\n\n",
                               ": alive\n\n");
    const Blocking blocking{blocking_};
    feed->keep(node_.observe(
        prefix,
        [weak = std::weak_ptr{feed}](const Event& event) {
            if (const auto told = weak.lock()) told->put(text_of_event(event));
        },
        options));
    park(feed);
}

void Api::status(httplib::Response& response) {
    const auto status = node_.status();
    answer_json(response, {{"cluster", status.cluster},
                           {"node", status.id},
                           {"ready", status.ready},
                           {"why_not_ready", http::json_text(status.why_not_ready)},
                           {"sessions", sessions_.count()},
                           {"streams", parked_.count()}});
}

}  // namespace mortise::door
