// What is in a certificate, for people and for programs.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/mortise/json_form.hpp"
#include <mortise/certificates.hpp>

namespace mortise::cli {

// A certificate that ends sooner is spoken of.
constexpr std::chrono::days expires_soon{30};

struct ShownCertificate {
    std::filesystem::path file;
    CertificateInfo info;
    // The file with the authorities that info.is_signed is about.
    std::optional<std::filesystem::path> authorities;
};

// Several lines, fit for a terminal.
[[nodiscard]] std::string text_of(const ShownCertificate& shown, std::chrono::sys_seconds now);
[[nodiscard]] Json json_of(const ShownCertificate& shown, std::chrono::sys_seconds now);

// "2026-01-31 13:00:00 UTC"
[[nodiscard]] std::string utc(std::chrono::sys_seconds time);
// "node 1 of cluster orders", "authority of cluster orders", or that it is neither.
[[nodiscard]] std::string owner_of(const CertificateInfo& info);

}  // namespace mortise::cli
