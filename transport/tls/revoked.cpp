#include "transport/tls/revoked.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>

#include "transport/tls/key_files.hpp"
#include "transport/tls/openssl.hpp"

namespace mortise::transport {

namespace {

// RFC 5280 permits 20 bytes.
constexpr std::size_t digits_max = 64;

std::string in_hex(const BIGNUM* number) {
    char* const text = number == nullptr ? nullptr : BN_bn2hex(number);
    std::string digits = text == nullptr ? "" : text;
    OPENSSL_free(text);
    return digits;
}

// Empty if there is none.
std::optional<std::string> serial_in(std::string line) {
    constexpr auto* blanks = " \t\r";
    line.resize(std::min(line.size(), line.find('#')));
    line.resize(line.find_last_not_of(blanks) + 1);
    line.erase(0, line.find_first_not_of(blanks));
    if (line.starts_with("serial=")) line.erase(0, std::string_view{"serial="}.size());
    if (line.empty()) return line;
    std::erase(line, ':');
    const bool is_number = line.size() <= digits_max && std::ranges::all_of(line, [](char c) {
                               return std::isxdigit(static_cast<unsigned char>(c)) != 0;
                           });
    BIGNUM* number = nullptr;
    if (!is_number || BN_hex2bn(&number, line.c_str()) == 0) return std::nullopt;
    return in_hex(openssl::Bignum{number}.get());
}

int index_of_serials() {
    static const int index = X509_STORE_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

int refuse_revoked(int is_good, X509_STORE_CTX* check) {
    if (is_good != 1) return is_good;
    const auto* certificate = X509_STORE_CTX_get_current_cert(check);
    const auto* serials = static_cast<const RevokedSerials*>(
        X509_STORE_get_ex_data(X509_STORE_CTX_get0_store(check), index_of_serials()));
    if (certificate == nullptr || serials == nullptr || !serials->has(*certificate)) return 1;
    X509_STORE_CTX_set_error(check, X509_V_ERR_CERT_REVOKED);
    return 0;
}

}  // namespace

std::string serial_of(const X509& certificate) {
    const openssl::Bignum number{ASN1_INTEGER_to_BN(X509_get0_serialNumber(&certificate), nullptr)};
    return in_hex(number.get());
}

core::Result<RevokedSerials> RevokedSerials::read(const std::filesystem::path& file) {
    const auto text = read_certificate_file(file);
    if (!text) return text.error();
    RevokedSerials revoked;
    std::istringstream lines{*text};
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        auto serial = serial_in(line);
        if (!serial) {
            return core::Error{
                std::make_error_code(std::errc::bad_message),
                file.string() + ":" + std::to_string(number) +
                    ": is no serial number in hexadecimal digits, as mortise cert show prints it"};
        }
        if (!serial->empty()) revoked.serials_.insert(*std::move(serial));
    }
    return revoked;
}

bool RevokedSerials::has(const X509& certificate) const {
    return serials_.contains(serial_of(certificate));
}

bool RevokedSerials::guard(X509_STORE* store) const {
    // OpenSSL takes the address without const, and returns it as it is.
    auto* const serials = const_cast<RevokedSerials*>(this);
    if (X509_STORE_set_ex_data(store, index_of_serials(), serials) != 1) return false;
    X509_STORE_set_verify_cb(store, refuse_revoked);
    return true;
}

}  // namespace mortise::transport
