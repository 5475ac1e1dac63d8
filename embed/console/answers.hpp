// The answers of the console are those of every program for HTTP here.
#pragma once

#include "embed/http/answers.hpp"

namespace mortise::console {

using http::answer_error;
using http::answer_json;
using http::bytes_of;
using http::HttpServer;
using http::Json;
using http::json_list;
using http::json_ms;
using http::json_of;
using http::json_text;
using http::Refusal;
using http::text_of;

}  // namespace mortise::console
