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

std::string not_trusted(long verified) {
    switch (verified) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return "its certificate has expired: issue another one with mortise cert issue";
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "its certificate is not valid yet: correct the time of day of this machine, or "
                   "of the one where it was issued";
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return "its certificate is not signed by an authority in tls.ca: give both nodes "
                   "certificates of one authority";
        case X509_V_ERR_CERT_REVOKED:
            return "its certificate is revoked (tls.revoked): issue another one with mortise cert "
                   "issue";
        default: break;
    }
    return std::string{"its certificate is not trusted: "} +
           X509_verify_cert_error_string(verified);
}

}  // namespace mortise::transport::openssl
