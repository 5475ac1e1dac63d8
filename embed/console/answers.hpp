// Answers in JSON.
#pragma once

#include <system_error>

#include <httplib.h>

#include "embed/console/json_form.hpp"
#include "embed/console/request_guard.hpp"

namespace mortise::console {

void answer_json(httplib::Response& response, const Json& json);
// {"error": "a_word", "reason": "a sentence"}
void answer_error(httplib::Response& response, const Refusal& refusal);
// The error of a call of the node.
void answer_error(httplib::Response& response, std::error_code error, std::string_view reason = {});

}  // namespace mortise::console
