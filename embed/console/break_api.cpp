#include "embed/console/break_api.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "embed/console/answers.hpp"
#include "embed/http/http_server.hpp"
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::console {

namespace {

struct Asked {
    std::string name;
    FencingToken token;
    std::string reason;
    BreakMode mode = BreakMode::confirmed;
};

std::string string_of(const Json& body, const char* member) {
    const auto found = body.find(member);
    return found != body.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<FencingToken> token_of(const std::string& text) {
    std::int64_t raw = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, raw);
    if (read.ec != std::errc{} || read.ptr != end || raw < 1) return std::nullopt;
    return FencingToken::from_raw(raw);
}

// Sets `problem` if the body does not ask for a break and confirm it.
std::optional<Asked> asked_by(const std::string& text, Refusal& problem) {
    const auto body = Json::parse(text, nullptr, false);
    problem = {400, "bad_request", "the body is an object with name, token, confirm and reason"};
    if (!body.is_object()) return std::nullopt;
    const auto name = body.find("name");
    auto bytes = name == body.end() ? std::nullopt : bytes_of(*name);
    const auto token = string_of(body, "token");
    const auto number = token_of(token);
    const auto now = body.find("now");
    const bool has_now = now != body.end();
    if (!bytes || !number || (has_now && !now->is_boolean())) return std::nullopt;
    auto reason = string_of(body, "reason");
    if (reason.empty()) {
        problem = {400, "no_reason", "say why: the reason is shown in logs and events"};
        return std::nullopt;
    }
    if (string_of(body, "confirm") != token) {
        problem = {400, "not_confirmed", "nothing was done: `confirm` is not the token"};
        return std::nullopt;
    }
    const bool is_now = has_now && now->get<bool>();
    return Asked{*std::move(bytes), *number, std::move(reason),
                 is_now ? BreakMode::immediate : BreakMode::confirmed};
}

// A place among those that break at the same time; false if there was none.
class Place {
public:
    explicit Place(std::atomic<int>& taken)
        : taken_{taken}, is_one_{taken.fetch_add(1) < BreakApi::breaks_max} {}
    ~Place() { --taken_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    explicit operator bool() const { return is_one_; }

private:
    std::atomic<int>& taken_;
    const bool is_one_;
};

// Empty if the node's own words are better.
std::string_view reason_for(std::error_code error) {
    if (error == Errc::not_held)
        return "nothing was done: nobody holds the lock with this token any more";
    if (error == Errc::outcome_unknown)
        return "no answer came in time: look whether the lock is broken before you repeat it";
    return {};
}

}  // namespace

void BreakApi::answer(const httplib::Request& request, httplib::Response& response) {
    if (!may_break_)
        return answer_error(response, {403, "read_only", "this console breaks no locks"});
    Refusal problem;
    const auto asked = asked_by(request.body, problem);
    if (!asked) return answer_error(response, problem);
    const Place place{breaks_};
    if (!place)
        return answer_error(response, {503, "too_many_breaks", "at most 4 breaks at a time"});
    HttpServer::current().begin_answer();
    try {
        node_.break_lock(asked->name, asked->token, asked->reason, asked->mode);
    } catch (const LockError& error) {
        return answer_error(response, error, reason_for(error.code()));
    }
    const auto token = asked->token.to_string();
    log_.warn("console_broke",
              "console: broke " + escaped_name(asked->name) + ", token " + token + ": " +
                  escaped(asked->reason),
              {{"name", asked->name}, {"token", token}, {"reason", asked->reason}});
    answer_json(response, {{"broken", true}});
}

}  // namespace mortise::console
