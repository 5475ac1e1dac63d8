// Certificates and keys as PEM: their content is shown or refused, and their identity is found by
// the same rules as everywhere.
#include <string>

#include "tests/fuzz/fuzz.hpp"
#include "transport/tls/certificates.hpp"
#include "transport/tls/pem.hpp"

namespace mortise::fuzz {
namespace {

using namespace transport;

std::string pem_block(const std::string& label, const std::string& content) {
    std::string base64(4 * (content.size() / 3 + 1) + 1, '\0');
    const auto* const bytes = reinterpret_cast<const unsigned char*>(content.data());
    const auto size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(base64.data()), bytes,
                                      static_cast<int>(content.size()));
    base64.resize(static_cast<std::size_t>(size));
    constexpr std::size_t line_bytes = 64;
    auto pem = "-----BEGIN " + label + "-----\n";
    for (std::size_t at = 0; at < base64.size(); at += line_bytes)
        pem += base64.substr(at, line_bytes) + "\n";
    return pem + "-----END " + label + "-----\n";
}

void check_written(const X509& certificate) {
    const auto pem = pem_of(certificate);
    FUZZ_CHECK(pem);
    const auto again = certificates_from(*pem);
    FUZZ_CHECK(again && again->size() == 1);
    FUZZ_CHECK(names_in(*again->front()).has_value() == names_in(certificate).has_value());
}

void look_at(X509& certificate) {
    const auto names = names_in(certificate);
    const auto identity = identity_in(certificate);
    if (names) {
        const auto expected = core::identity_from(names->uris);
        FUZZ_CHECK(expected.has_value() == identity.has_value());
        FUZZ_CHECK(!identity || *identity == *expected);
    } else {
        FUZZ_CHECK(!identity);
    }
    const auto cluster = cluster_of_authority(certificate);
    FUZZ_CHECK(cluster.empty() || core::is_cluster_name(cluster));
    static_cast<void>(validity_of(certificate));
    static_cast<void>(is_authority(certificate));
    check_written(certificate);
}

void read_certificates(const std::string& pem) {
    const auto described = describe_certificates(pem, pem);
    const auto certificates = certificates_from(pem);
    if (!certificates) {
        FUZZ_CHECK(!certificates.error().what.empty() && !described);
        return;
    }
    FUZZ_CHECK(!certificates->empty());
    for (const auto& certificate : *certificates)
        look_at(*certificate);
    if (!described) return;
    FUZZ_CHECK(described->size() == certificates->size());
    for (const auto& each : *described) {
        FUZZ_CHECK(each.identity.has_value() == each.no_identity.empty());
        FUZZ_CHECK(in_utc(each.validity.not_before).ends_with(" UTC"));
        FUZZ_CHECK(in_utc(each.validity.not_after).ends_with(" UTC"));
    }
}

void read_key(const std::string& pem) {
    const auto key = key_from(pem);
    if (!key) {
        FUZZ_CHECK(!key.error().what.empty());
        return;
    }
    const auto written = pem_of(**key);
    FUZZ_CHECK(!written || key_from(written->text()));
}

}  // namespace
}  // namespace mortise::fuzz

// The input is PEM text, or the content of a block, so that the fuzzer need not generate base64.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::fuzz;
    Choices choices{data, size};
    const auto kind = choices.below(3);
    auto text = choices.rest();
    if (kind == 0) text = pem_block("CERTIFICATE", text);
    if (kind == 1) {
        read_key(text);
        read_key(pem_block("PRIVATE KEY", text));
    }
    read_certificates(text);
    return 0;
}
