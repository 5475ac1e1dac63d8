// Checks the files of TLS as the node and its peers will.
#include <string>
#include <system_error>

#include "tools/mortise/cert_text.hpp"
#include "tools/mortise/doctor/checks.hpp"
#include "tools/mortise/exit_code.hpp"
#include <mortise/certificates.hpp>

namespace mortise::cli {

namespace {

constexpr const char* about_certificate = "certificate";
constexpr const char* about_key = "key";

bool is_client(const Config& config) {
    return config.role == Role::client;
}

std::string issue(const Config& config) {
    if (is_client(config))
        return "issue a certificate with `mortise cert issue --user NAME --role client`";
    return "issue a certificate with `mortise cert issue --node " +
           std::to_string(config.own_id()) + "`";
}

// Any owner may be a client, with the rights of its certificate.
Findings judge_user(const Config& config, const CertificateInfo& info, const std::string& file) {
    if (info.node != 0 || !info.user.empty()) return {};
    return {problem(about_certificate, file + " is that of " + owner_of(info) + ", not of a user",
                    issue(config))};
}

Findings judge_names(const Config& config, const CertificateInfo& info, const std::string& file) {
    Findings findings;
    if (is_client(config)) {
        append(findings, judge_user(config, info, file));
    } else if (info.node == 0) {
        findings.push_back(problem(about_certificate,
                                   file + " is that of " + owner_of(info) + ", not of a node",
                                   issue(config)));
    } else if (info.node != config.own_id()) {
        findings.push_back(problem(about_certificate,
                                   file + " is that of " + name_of_node(info.node) +
                                       ", and this is " + name_of_node(config.own_id()),
                                   "name the files of this node, or " + issue(config)));
    }
    const bool has_owner = info.node != 0 || !info.user.empty();
    if (has_owner && info.cluster != config.cluster) {
        findings.push_back(problem(about_certificate,
                                   file + " is for the cluster " + info.cluster +
                                       ", and cluster = \"" + config.cluster + "\"",
                                   "correct the name of the cluster, or " + issue(config)));
    }
    return findings;
}

Findings judge_validity(const CertificateInfo& info, const std::string& file,
                        std::chrono::sys_seconds now, const std::string& advice) {
    if (now >= info.not_after)
        return {problem(about_certificate, file + " expired at " + utc(info.not_after), advice)};
    if (now < info.not_before) {
        return {problem(about_certificate,
                        file + " is not valid before " + utc(info.not_before) +
                            ", and this machine's time is " + utc(now),
                        "correct the time of day of this machine, or of the one that issued it")};
    }
    if (info.not_after - now < expires_soon)
        return {warning(about_certificate, file + " expires at " + utc(info.not_after), advice)};
    return {};
}

Findings judge_certificate(const Config& config, std::chrono::sys_seconds now) {
    const auto file = config.tls.certificate.string();
    const auto info = read_certificates(config.tls.certificate, config.tls.ca).front();
    auto findings = judge_names(config, info, file);
    append(findings, judge_validity(info, file, now, issue(config)));
    if (!info.is_signed.value_or(true)) {
        findings.push_back(problem(
            about_certificate, "no authority in " + config.tls.ca.string() + " has signed " + file,
            "use the ca.pem with which it was issued, or " + issue(config) +
                " and that authority"));
    }
    for (const auto& authority : read_certificates(config.tls.ca)) {
        append(findings, judge_validity(authority, "the authority in " + config.tls.ca.string(),
                                        now, "renew the authority: docs/tls.md"));
    }
    if (findings.empty())
        findings.push_back(fine(about_certificate, file + " is that of " + owner_of(info) +
                                                       ", valid until " + utc(info.not_after)));
    return findings;
}

// The library loads the files as a node does, and tries a handshake with them; nothing is sent.
Findings judge_use(const Config& config, bool is_certificate_fine) {
    const auto file = config.tls.key.string();
    try {
        const Remote unused{{"127.0.0.1:1"}, std::chrono::seconds{1}, config.tls};
        return {fine(about_key, file + " belongs to the certificate, and nobody else may read it")};
    } catch (const std::system_error& error) {
        const auto line = line_of(error);
        if (line.find(file) == std::string::npos) {
            if (!is_certificate_fine) return {};  // it was said
            return {problem(about_certificate, line, "correct what it names, or " + issue(config))};
        }
        const bool says_how = line.find("chmod") != std::string::npos;
        return {problem(about_key, line,
                        says_how ? "or issue another certificate, if somebody may have read it"
                                 : "name the key that was written together with " +
                                       config.tls.certificate.string())};
    }
}

}  // namespace

Findings check_certificates(const Config& config, std::chrono::sys_seconds now) {
    if (!config.tls.is_set()) {
        if (!config.tls.insecure || is_client(config)) return {};
        return {warning("tls",
                        "tls.insecure is set: everybody who reaches this node may do "
                        "everything",
                        "set tls.certificate, tls.key and tls.ca; `mortise cert` makes the files")};
    }
    Findings findings;
    try {
        findings = judge_certificate(config, now);
    } catch (const CertificateError& error) {
        findings.push_back(problem(about_certificate, line_of(error),
                                   "correct the paths below [tls], or " + issue(config)));
        if (error.code() == std::errc::no_such_file_or_directory) return findings;
    }
    append(findings, judge_use(config, count(findings, Severity::error) == 0));
    return findings;
}

}  // namespace mortise::cli
