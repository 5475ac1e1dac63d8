// What a request asks for: its parameters, or the members of its body.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <httplib.h>

#include "embed/http/answers.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/duration.hpp>

namespace mortise::door {

using http::Json;

// The request is refused.
struct Refused {
    http::Refusal refusal;
    std::string allowed{};  // the methods, for a 405
};
[[noreturn]] void refuse(std::string reason);

// Each member returns what was asked under that name, or else the default. Throws Refused for a
// value that is wrong, also one that was asked twice.
class Asked {
public:
    // The parameters after the question mark.
    [[nodiscard]] static Asked of_target(std::string_view target);
    // An object in JSON; an empty text is an empty one.
    [[nodiscard]] static Asked of_body(const std::string& body);

    [[nodiscard]] bool has(const char* name);
    [[nodiscard]] std::string text(const char* name);
    [[nodiscard]] std::optional<Duration> time(const char* name);  // "500ms", "1m"
    [[nodiscard]] std::optional<std::uint32_t> number(const char* name);
    [[nodiscard]] bool flag(const char* name);  // "1", true
    [[nodiscard]] std::vector<LockRequest> names(LockMode mode);
    // One of the names of an enumeration, whose last enumerator is `last`.
    template <class Value>
    [[nodiscard]] std::optional<Value> one_of(const char* name, Value last);

    // What nobody has asked for is misspelt.
    void refuse_the_rest() const;

private:
    [[nodiscard]] const Json* find(const char* name);

    bool is_json_ = false;

    Json members_ = Json::object();
    std::set<std::string, std::less<>> used_;
};

template <class Value>
std::optional<Value> Asked::one_of(const char* name, Value last) {
    if (!has(name)) return std::nullopt;
    const auto word = text(name);
    std::string known;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        const auto value = static_cast<Value>(i);
        if (to_string(value) == word) return value;
        known += (i == 0 ? "" : ", ") + std::string{to_string(value)};
    }
    refuse("`" + std::string{name} + "` is one of " + known);
}

// An acquire, or a campaign.
struct Wish {
    detail::AcquireOrder order{};
    std::optional<std::string> published{};  // of a campaign
};

// A longer wait is cut to `wait_max`. For a campaign, `value` is the parameter that has its value;
// a campaign has one name, and no mode. For an acquire `value` is null.
[[nodiscard]] Wish wish_of(Asked& asked, std::string name, Duration wait_max, const char* value);
// All names of it.
[[nodiscard]] std::vector<std::string> names_of(const Wish& wish);

}  // namespace mortise::door
