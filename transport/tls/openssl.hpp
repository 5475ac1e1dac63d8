// Owners for OpenSSL's objects, and its error queue in words. Private to this folder: no type of
// OpenSSL leaves transport.
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "core/base/result.hpp"

namespace mortise::transport::openssl {

// These free the elements of a stack as well, each of which is a reference of its own.
inline void free_certificates(STACK_OF(X509) * stack) {
    sk_X509_pop_free(stack, X509_free);
}

template <auto free_it>
struct Freed {
    template <class T>
    void operator()(T* value) const {
        free_it(value);
    }
};

using Asn1String = std::unique_ptr<ASN1_STRING, Freed<ASN1_STRING_free>>;
using Asn1Time = std::unique_ptr<ASN1_TIME, Freed<ASN1_TIME_free>>;
using Bignum = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using CertificateStack = std::unique_ptr<STACK_OF(X509), Freed<free_certificates>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using GeneralName = std::unique_ptr<GENERAL_NAME, Freed<GENERAL_NAME_free>>;
using GeneralNames = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Session = std::unique_ptr<SSL, Freed<SSL_free>>;
using SessionContext = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;

// The oldest error in this thread's queue, in OpenSSL's words; empty if there is none. Clears the
// queue.
[[nodiscard]] std::string take_error();

// "<what>: <OpenSSL's words>". Clears the queue.
[[nodiscard]] core::Error failed(const std::string& what,
                                 std::errc code = std::errc::invalid_argument);

// Why a certificate of the other side is not trusted, and what to do, for a result of X.509
// verification.
[[nodiscard]] std::string not_trusted(long verified);

}  // namespace mortise::transport::openssl
