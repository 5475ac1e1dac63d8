#include "tools/mortise/cert_text.hpp"

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

using std::chrono::sys_seconds;

enum class State { valid, expires_soon, expired, not_yet_valid };

State state_of(const CertificateInfo& info, sys_seconds now) {
    if (now >= info.not_after) return State::expired;
    if (now < info.not_before) return State::not_yet_valid;
    return info.not_after - now < expires_soon ? State::expires_soon : State::valid;
}

std::string_view to_string(State state) {
    switch (state) {
        case State::valid: return "valid";
        case State::expires_soon: return "expires_soon";
        case State::expired: return "expired";
        case State::not_yet_valid: break;
    }
    return "not_yet_valid";
}

std::string count(std::int64_t number, const std::string& what) {
    return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

// Rounded down, in days or, below two days, in hours.
std::string in_words(std::chrono::seconds length) {
    const auto days = std::chrono::floor<std::chrono::days>(length);
    if (days >= std::chrono::days{2}) return count(days.count(), "day");
    const auto hours = std::chrono::floor<std::chrono::hours>(length);
    if (hours >= std::chrono::hours{1}) return count(hours.count(), "hour");
    return "less than an hour";
}

std::string validity(const CertificateInfo& info, sys_seconds now) {
    const auto range = utc(info.not_before) + " to " + utc(info.not_after);
    switch (state_of(info, now)) {
        case State::expired: return range + ": EXPIRED " + in_words(now - info.not_after) + " ago";
        case State::not_yet_valid: return range + ": NOT YET VALID";
        case State::expires_soon:
            return range + ": EXPIRES SOON, " + in_words(info.not_after - now) + " left";
        case State::valid: break;
    }
    return range + ": " + in_words(info.not_after - now) + " left";
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string in_words(const AccessRule& rule) {
    std::string right{mortise::to_string(rule.right)};
    if (rule.right == AccessRight::members) return right;
    return right + (rule.prefix.empty() ? " every name" : " " + rule.prefix + "*");
}

std::vector<std::string> words_of(const std::vector<AccessRole>& roles) {
    std::vector<std::string> words;
    words.reserve(roles.size());
    for (const auto role : roles)
        words.emplace_back(mortise::to_string(role));
    return words;
}

// What both a rule and a role give.
std::string rules_in_words(const CertificateInfo& info) {
    if (info.rules.empty()) return "all that its role gives";
    std::vector<std::string> words;
    for (const auto& rule : info.rules) {
        if (is_allowed(info.roles, {}, rule.right, rule.prefix)) words.push_back(in_words(rule));
    }
    if (words.empty()) return "nothing: its roles give none of the rights in its rules";
    return "only: " + joined(words);
}

std::string line(std::string_view title, const std::string& text) {
    constexpr std::size_t width = 9;
    return "  " + std::string{title} + std::string(width - title.size(), ' ') + escaped(text) +
           '\n';
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : json_text(text);
}

std::string iso(sys_seconds time) {
    auto text = utc(time);
    text.replace(text.find(' '), 1, "T");
    text.replace(text.find(' '), std::string::npos, "Z");
    return text;
}

}  // namespace

std::string utc(sys_seconds time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02ld:%02ld:%02ld UTC",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                  clock.seconds().count());
    return text.data();
}

std::string owner_of(const CertificateInfo& info) {
    const auto of_cluster = info.cluster.empty() ? "" : " of cluster " + info.cluster;
    if (info.is_authority) return "authority" + of_cluster;
    if (info.node != 0) return "node " + std::to_string(info.node) + of_cluster;
    if (!info.user.empty()) return "user " + info.user + of_cluster;
    return "neither a node nor a user";
}

std::string text_of(const ShownCertificate& shown, sys_seconds now) {
    const auto& info = shown.info;
    auto text = escaped(shown.file.string() + ": " + owner_of(info)) + '\n';
    if (!info.roles.empty()) {
        text += line("roles", joined(words_of(info.roles)));
        text += line("may", rules_in_words(info));
    } else if (!info.is_authority) {
        text += line("problem", info.problem);
    }
    if (!info.hosts.empty()) text += line("hosts", joined(info.hosts));
    text += line("valid", validity(info, now));
    if (info.is_signed) {
        const std::string verdict = *info.is_signed ? "by an authority in " : "by NO authority in ";
        text += line("signed", verdict + shown.authorities->string());
    }
    text += line("subject", info.subject);
    text += line("issuer", info.issuer);
    text += line("serial", info.serial);
    return text + line("sha256", info.fingerprint);
}

Json json_of(const ShownCertificate& shown, sys_seconds now) {
    const auto& info = shown.info;
    auto rules = Json::array();
    for (const auto& rule : info.rules)
        rules.push_back(
            {{"right", mortise::to_string(rule.right)}, {"prefix", json_text(rule.prefix)}});
    auto hosts = Json::array();
    for (const auto& host : info.hosts)
        hosts.push_back(json_text(host));
    return {{"file", json_text(shown.file.string())},
            {"cluster", text_or_null(info.cluster)},
            {"node", info.node != 0 ? Json(info.node) : Json(nullptr)},
            {"user", text_or_null(info.user)},
            {"is_authority", info.is_authority},
            {"problem", info.is_authority ? Json(nullptr) : text_or_null(info.problem)},
            {"roles", words_of(info.roles)},
            {"rules", rules},
            {"hosts", hosts},
            {"state", to_string(state_of(info, now))},
            {"not_before", iso(info.not_before)},
            {"not_after", iso(info.not_after)},
            {"seconds_left", (info.not_after - now).count()},
            {"is_signed", info.is_signed ? Json(*info.is_signed) : Json(nullptr)},
            {"subject", json_text(info.subject)},
            {"issuer", json_text(info.issuer)},
            {"serial", info.serial},
            {"sha256", info.fingerprint}};
}

}  // namespace mortise::cli
