// Answers in JSON.
#pragma once

#include <string>
#include <string_view>

#include <httplib.h>

#include "embed/http/http_server.hpp"
#include "embed/http/request_guard.hpp"
#include "embed/json_form/json_form.hpp"
#include <mortise/lock_error.hpp>

namespace mortise::http {

using json_form::bytes_of;
using json_form::Json;
using json_form::json_list;
using json_form::json_ms;
using json_form::json_of;
using json_form::json_text;

[[nodiscard]] std::string text_of(const Json& json);

void answer_json(httplib::Response& response, const Json& json);
// {"error": "a_word", "reason": "a sentence"}
[[nodiscard]] Json json_of(const Refusal& refusal);
// The error of a call of the node, in the node's own words.
[[nodiscard]] Refusal refusal_of(const LockError& error);
void answer_error(httplib::Response& response, const Refusal& refusal);
// The error of a call of the node. Without `reason` it is told in the node's own words.
void answer_error(httplib::Response& response, const LockError& error,
                  std::string_view reason = {});

}  // namespace mortise::http
