#include "embed/http/answers.hpp"

#include <system_error>
#include <utility>

#include <mortise/errc.hpp>

namespace mortise::http {

namespace {

int status_of(std::error_code error) {
    if (error == Errc::invalid_argument) return 400;
    if (error == Errc::permission_denied) return 403;
    if (error == Errc::not_held || error == Errc::deadlock || error == Errc::kind_mismatch ||
        error == Errc::cancelled)
        return 409;
    if (error == Errc::lock_lost || error == Errc::session_expired) return 410;
    if (error == Errc::outcome_unknown || error == Errc::timed_out) return 504;
    return 503;
}

}  // namespace

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void answer_json(httplib::Response& response, const Json& json) {
    response.set_content(text_of(json) + "\n", "application/json");
}

Json json_of(const Refusal& refusal) {
    return {{"error", refusal.error}, {"reason", json_text(refusal.reason)}};
}

Refusal refusal_of(const LockError& error) {
    const auto& code = error.code();
    const bool is_own = code.category() == error_category();
    const auto word = is_own ? to_string(static_cast<Errc>(code.value())) : "failed";
    std::string reason = error.detail().reason;
    if (code == Errc::deadlock) reason = error.what();  // the wait cycle
    if (reason.empty()) reason = code.message();
    return {status_of(code), word, std::move(reason)};
}

void answer_error(httplib::Response& response, const Refusal& refusal) {
    response.status = refusal.status;
    answer_json(response, json_of(refusal));
}

void answer_error(httplib::Response& response, const LockError& error, std::string_view reason) {
    auto refusal = refusal_of(error);
    if (!reason.empty()) refusal.reason = reason;
    answer_error(response, refusal);
}

}  // namespace mortise::http
