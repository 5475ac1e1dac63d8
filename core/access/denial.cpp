#include "core/access/denial.hpp"

#include <algorithm>
#include <vector>

namespace mortise::core {

namespace {

constexpr std::size_t prefixes_shown_max = 4;

std::string in_quotes(std::string_view name) {
    return "\"" + std::string{name} + "\"";
}

std::string verb_of(Right right, std::string_view name) {
    switch (right) {
        case Right::acquire: return "acquire " + in_quotes(name);
        case Right::break_lock: return "break " + in_quotes(name);
        case Right::observe: return "observe " + in_quotes(name);
        case Right::members: break;
    }
    return "change the members";
}

std::string roles_of(const Access& access) {
    if (access.roles.empty()) return "its certificate has no role";
    std::string text = access.roles.size() == 1 ? "its certificate has the role "
                                                : "its certificate has the roles ";
    for (std::size_t i = 0; i < access.roles.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::string{to_string(access.roles[i])};
    return text + " only";
}

std::string rules_of(const Access& access, Right right) {
    const auto allows = "its certificate allows " + std::string{to_string(right)};
    std::vector<std::string_view> prefixes;
    for (const auto& rule : access.rules) {
        if (rule.right == right) prefixes.push_back(rule.prefix);
    }
    if (prefixes.empty())
        return "its certificate has rules, and none of them allows " +
               std::string{to_string(right)};
    std::string text = allows + " on ";
    const auto told = std::min(prefixes.size(), prefixes_shown_max);
    for (std::size_t i = 0; i < told; ++i)
        text += (i == 0 ? "" : ", ") + in_quotes(prefixes[i]);
    if (told < prefixes.size()) text += " and " + std::to_string(prefixes.size() - told) + " more";
    return text;
}

}  // namespace

Denied denial(std::string_view who, const Access& access, Right right, std::string_view name) {
    const Access roles_alone{access.roles, {}};
    auto text = std::string{who} + " may not " + verb_of(right, name) + ": ";
    text += roles_alone.may(right, name) ? rules_of(access, right) : roles_of(access);
    return {std::move(text)};
}

}  // namespace mortise::core
