// The identity in a certificate and what it allows. Whoever made the certificate controls the URIs,
// and a caller controls the names that they are compared with.
#include <string>
#include <vector>

#include "core/access/denial.hpp"
#include "core/access/identity.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace mortise::fuzz {
namespace {

using namespace core;

constexpr Right rights[] = {Right::acquire, Right::break_lock, Right::observe, Right::members};

// Each line of the input is a URI. A leading "@" stands for the cluster, so that several agree on
// it.
std::vector<std::string> next_uris(Choices& choices) {
    std::vector<std::string> uris;
    const auto text = choices.piece();
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        auto uri = text.substr(at, end - at);
        uris.push_back(uri.starts_with('@') ? "mortise://c/" + uri.substr(1) : std::move(uri));
        at = end + 1;
    }
    return uris;
}

void check_written(const Identity& identity) {
    FUZZ_CHECK(is_cluster_name(identity.cluster));
    FUZZ_CHECK(identity.node.is_set() != is_user_name(identity.user));
    FUZZ_CHECK(!identity.access.roles.empty());
    FUZZ_CHECK(identity.access.rules.size() <= access_rules_max);
    const auto again = identity_from(uris_of(identity));
    FUZZ_CHECK(again && *again == identity);
}

void check_rights(const Identity& identity, const std::string& name, std::size_t prefix_bytes) {
    const auto& access = identity.access;
    const auto prefix = name.substr(0, prefix_bytes);
    for (const auto right : rights) {
        // A right on every name with a prefix is a right on each of them.
        const bool all = access.may_all(right, prefix);
        FUZZ_CHECK(!all || access.may(right, name));
        FUZZ_CHECK(!access.may_all(right, {}) || all);
        // Rules never extend the rights.
        const Access unruled{access.roles, {}};
        FUZZ_CHECK(!access.may(right, name) || unruled.may(right, name));
        FUZZ_CHECK(Access::all().may(right, name));
        FUZZ_CHECK(!denial(identity.name(), access, right, name).why.empty());
    }
}

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise;
    fuzz::Choices choices{data, size};
    const auto identity = core::identity_from(fuzz::next_uris(choices));
    if (!identity) {
        FUZZ_CHECK(!identity.error().what.empty());
        return 0;
    }
    fuzz::check_written(*identity);
    while (!choices.is_empty()) {
        const auto prefix_bytes = choices.byte();
        fuzz::check_rights(*identity, choices.piece(), prefix_bytes);
    }
    return 0;
}
