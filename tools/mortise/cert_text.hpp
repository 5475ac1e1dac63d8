// Shows the content of a certificate, for people and for programs.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/mortise/json_form.hpp"
#include <mortise/certificates.hpp>

namespace mortise::cli {

// A certificate that expires sooner gets a warning.
constexpr std::chrono::days expires_soon{30};

struct ShownCertificate {
    std::filesystem::path file;
    CertificateInfo info;
    // The file with the authorities to which info.is_signed refers.
    std::optional<std::filesystem::path> authorities;
};

// Several lines, escaped for a terminal.
[[nodiscard]] std::string text_of(const ShownCertificate& shown, std::chrono::sys_seconds now);
[[nodiscard]] Json json_of(const ShownCertificate& shown, std::chrono::sys_seconds now);

// "2026-01-31 13:00:00 UTC"
[[nodiscard]] std::string utc(std::chrono::sys_seconds time);
// "node 1 of cluster orders", "authority of cluster orders", or a text that says it is neither.
[[nodiscard]] std::string owner_of(const CertificateInfo& info);

}  // namespace mortise::cli
