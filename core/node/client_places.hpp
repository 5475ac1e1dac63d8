// Which client nodes have a place at this member (P11, S49, docs/decisions/0066). A client gets one
// once it is known what it may do, and keeps it as long as it works. When no place is free, a
// newcomer gets that of the client that has the least to lose, if there is one that does not work:
// that has no session, or has said nothing for longer than a client that lives. Of those that work,
// only one without holds and requests goes, and only for a newcomer that has some, which would be
// lost without a member.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/instant.hpp"
#include "core/base/result.hpp"
#include "core/client/client_message.hpp"

namespace mortise::core {

// What a client may lose with its place.
enum class ClientStake : std::uint8_t {
    nothing,  // it has no session
    session,
    requests,  // and holds, or requests that wait
};

class ClientPlaces {
public:
    using StakeOf = std::function<ClientStake(ClientId)>;

    explicit ClientPlaces(std::size_t places) : places_{places} {}

    struct Newcomer {
        ClientId client;
        std::string certificate;  // the name of its identity; empty without TLS
        ClientStake stake = ClientStake::nothing;
    };
    struct Given {
        ClientId displaced;  // its place was given away; not set: there was another one
    };
    // The error says why the newcomer gets none. One certificate never has all places.
    [[nodiscard]] Result<Given> give(const Newcomer& newcomer, Instant now,
                                     const StakeOf& stake_of);
    void heard(ClientId client, Instant now);
    void free(ClientId client);

    [[nodiscard]] bool has(ClientId client) const { return guests_.contains(client); }
    [[nodiscard]] std::size_t size() const { return guests_.size(); }

private:
    struct Guest {
        std::string certificate;
        Instant since;
        Instant heard_at;
    };
    using Guests = std::map<ClientId, Guest>;

    [[nodiscard]] std::size_t of_certificate_max() const;
    [[nodiscard]] bool has_its_share(const std::string& certificate) const;
    [[nodiscard]] std::optional<ClientId> least_to_lose(const Newcomer& newcomer, bool of_its_own,
                                                        Instant now, const StakeOf& stake_of) const;

    std::size_t places_;
    Guests guests_;
    std::map<std::string, std::size_t> by_certificate_;
};

}  // namespace mortise::core
