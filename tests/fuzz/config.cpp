// The texts of a configuration: TOML, lists of peers, addresses, durations. Each is accepted, or
// refused in one line with the place and the reason; what is accepted is valid, and stays so.
#include <string>
#include <string_view>

#include "embed/config/host_port.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "transport/sockets/address.hpp"
#include <mortise/config.hpp>
#include <mortise/duration.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise::fuzz {
namespace {

void check_refusal(const ConfigError& error) {
    const std::string_view line = error.what();
    FUZZ_CHECK(!line.empty() && line.find('\n') == std::string_view::npos);
    FUZZ_CHECK(error.code() == Errc::invalid_argument);
}

void read_toml(const std::string& text) {
    try {
        const auto config = Config::from_string(text, "fuzz.toml");
        config.validate();
        FUZZ_CHECK(config.own_id() != 0);
        for (const auto& peer : config.peers)
            FUZZ_CHECK(detail::parse_host_port(peer.address));
    } catch (const ConfigError& error) {
        check_refusal(error);
        FUZZ_CHECK(error.place().file == "fuzz.toml");
    }
}

void read_peer_list(const std::string& text) {
    try {
        const auto peers = parse_peer_list(text);
        std::string list;
        for (const auto& peer : peers)
            list += std::to_string(peer.id) + "=" + peer.address + ",";
        FUZZ_CHECK(parse_peer_list(list) == peers);
    } catch (const ConfigError& error) {
        check_refusal(error);
    }
}

std::string written(const detail::HostPort& address) {
    const bool is_ipv6 = address.host.find(':') != std::string::npos;
    const auto host = is_ipv6 ? "[" + address.host + "]" : address.host;
    return host + ":" + std::to_string(address.port);
}

void read_address(const std::string& text) {
    const auto address = detail::parse_host_port(text);
    // The transport accepts what a configuration accepts, with the same meaning.
    const auto place = transport::parse_address(text);
    if (!address) {
        FUZZ_CHECK(!detail::not_an_address(text).empty());
        return;
    }
    FUZZ_CHECK(detail::parse_host_port(written(*address)) == address);
    FUZZ_CHECK(!detail::is_loopback(*address) || detail::is_numeric(*address));
    FUZZ_CHECK(place && place->host == address->host);
    FUZZ_CHECK(std::stoul(place->port) == address->port);
    FUZZ_CHECK(detail::canonical(*address).ends_with(" " + std::to_string(address->port)));
}

void read_duration(const std::string& text) {
    const auto duration = Duration::parse(text);
    if (!duration) return;
    FUZZ_CHECK(*duration >= Duration::zero());
    FUZZ_CHECK(Duration::parse(to_string(*duration)) == duration || !duration->is_set());
}

void show(const std::string& text) {
    const auto shown = escaped(text);
    FUZZ_CHECK(shown.find('\n') == std::string::npos);
    FUZZ_CHECK(shown.size() >= text.size());
}

constexpr void (*readers[])(const std::string&) = {read_toml, read_peer_list, read_address,
                                                   read_duration, show};

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::fuzz;
    Choices choices{data, size};
    const auto reader = choices.below(std::size(readers));
    readers[reader](choices.rest());
    return 0;
}
