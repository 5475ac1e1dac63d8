#include "embed/http/answers.hpp"

#include <system_error>

#include <mortise/errc.hpp>

namespace mortise::http {

namespace {

int status_of(std::error_code error) {
    if (error == Errc::invalid_argument) return 400;
    if (error == Errc::permission_denied) return 403;
    if (error == Errc::not_held) return 409;
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

void answer_error(httplib::Response& response, const Refusal& refusal) {
    response.status = refusal.status;
    answer_json(response, {{"error", refusal.error}, {"reason", json_text(refusal.reason)}});
}

void answer_error(httplib::Response& response, const LockError& error, std::string_view reason) {
    const auto& code = error.code();
    const bool is_own = code.category() == error_category();
    const auto word = is_own ? to_string(static_cast<Errc>(code.value())) : "failed";
    if (reason.empty()) reason = error.detail().reason;
    answer_error(response,
                 {status_of(code), word, reason.empty() ? code.message() : std::string{reason}});
}

}  // namespace mortise::http
