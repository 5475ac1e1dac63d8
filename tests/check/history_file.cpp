#include "tests/check/history_file.hpp"

#include <array>
#include <charconv>
#include <istream>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace mortise::check {

namespace {

using Json = nlohmann::ordered_json;

template <class Value, std::size_t size>
using Words = std::array<std::pair<std::string_view, Value>, size>;

constexpr Words<Operation, 6> operations{{{"acquire", Operation::acquire},
                                          {"try", Operation::try_acquire},
                                          {"release", Operation::release},
                                          {"lost", Operation::lost},
                                          {"valid", Operation::valid},
                                          {"died", Operation::died}}};
constexpr Words<Outcome, 10> outcomes{{{"granted", Outcome::granted},
                                       {"busy", Outcome::busy},
                                       {"refused", Outcome::refused},
                                       {"timed_out", Outcome::timed_out},
                                       {"cancelled", Outcome::cancelled},
                                       {"unknown", Outcome::unknown},
                                       {"released", Outcome::released},
                                       {"lost", Outcome::lost},
                                       {"not_held", Outcome::not_held},
                                       {"none", Outcome::none}}};
constexpr Words<core::LockMode, 6> modes{
    {{"intent_shared", core::LockMode::intent_shared},
     {"intent_exclusive", core::LockMode::intent_exclusive},
     {"shared", core::LockMode::shared},
     {"shared_intent_exclusive", core::LockMode::shared_intent_exclusive},
     {"update", core::LockMode::update},
     {"exclusive", core::LockMode::exclusive}}};

// There is a word for each enumerator, including the last.
static_assert(operations.size() == static_cast<std::size_t>(Operation::died) + 1);
static_assert(outcomes.size() == static_cast<std::size_t>(Outcome::none) + 1);
static_assert(modes.size() == core::lock_modes);

template <class Value, std::size_t size>
Value value_of(const Words<Value, size>& words, const std::string& word) {
    for (const auto& [known, value] : words) {
        if (known == word) return value;
    }
    throw BadHistory{"no such word: " + word};
}

template <class Value, std::size_t size>
std::string word_of(const Words<Value, size>& words, Value wanted) {
    for (const auto& [word, value] : words) {
        if (value == wanted) return std::string{word};
    }
    return "?";
}

std::uint64_t token_of(const std::string& text) {
    std::uint64_t token = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, token);
    if (parsed.ec != std::errc{} || parsed.ptr != end || token == 0)
        throw BadHistory{"no token: " + text};
    return token;
}

// Without this check an inconsistent call would be judged as a valid one.
void check_sense(const Call& call) {
    if (call.returned && *call.returned < call.invoked) throw BadHistory{"returns before it began"};
    if (call.name.empty() && call.operation != Operation::died) throw BadHistory{"without a name"};
    const bool grants = asks(call) && call.outcome == Outcome::granted;
    const bool is_of_a_hold = !asks(call) && call.operation != Operation::died;
    if ((grants || is_of_a_hold) && call.token == 0) throw BadHistory{"without a token"};
    if (grants && !call.returned) throw BadHistory{"granted, and never returned"};
}

Call call_of(const Json& json) {
    Call call;
    call.process = json.at("process");
    call.operation = value_of(operations, json.at("operation"));
    call.name = json.value("name", "");
    call.mode = value_of(modes, json.value("mode", "exclusive"));
    call.invoked = json.at("invoke");
    if (json.contains("return")) call.returned = json["return"].get<Time>();
    const bool waits = asks(call) || call.operation == Operation::release;
    call.outcome = value_of(outcomes, json.value("outcome", waits ? "unknown" : "none"));
    if (json.contains("token")) call.token = token_of(json["token"]);
    if (json.contains("valid_until")) call.valid_until = json["valid_until"].get<Time>();
    call.hold = json.value("hold", call.hold);
    check_sense(call);
    return call;
}

}  // namespace

Calls read_history(std::istream& in) {
    Calls calls;
    std::string text;
    for (std::size_t line = 1; std::getline(in, text); ++line) {
        if (text.empty()) continue;
        try {
            calls.push_back(call_of(Json::parse(text)));
            calls.back().line = line;
        } catch (const std::exception& error) {
            throw BadHistory{"line " + std::to_string(line) + ": " + error.what()};
        }
    }
    return calls;
}

std::string to_line(const Call& call) {
    Json json;
    json["process"] = call.process;
    json["operation"] = word_of(operations, call.operation);
    if (!call.name.empty()) json["name"] = call.name;
    if (asks(call)) json["mode"] = word_of(modes, call.mode);
    json["invoke"] = call.invoked;
    if (call.returned) json["return"] = *call.returned;
    if (call.outcome != Outcome::none) json["outcome"] = word_of(outcomes, call.outcome);
    if (call.token != 0) json["token"] = std::to_string(call.token);
    if (call.valid_until) json["valid_until"] = *call.valid_until;
    if (call.hold != 0) json["hold"] = call.hold;
    return json.dump();
}

}  // namespace mortise::check
