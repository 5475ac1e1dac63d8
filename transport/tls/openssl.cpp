#include "transport/tls/openssl.hpp"

namespace mortise::transport::openssl {

std::string take_error() {
    const auto code = ERR_get_error();
    ERR_clear_error();
    if (code == 0) return {};
    const char* const reason = ERR_reason_error_string(code);
    if (reason != nullptr) return reason;
    return "OpenSSL error " + std::to_string(code);
}

core::Error failed(const std::string& what, std::errc code) {
    const auto words = take_error();
    return {std::make_error_code(code), words.empty() ? what : what + ": " + words};
}

}  // namespace mortise::transport::openssl
