// Leader elections.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <mortise.h>

#include "embed/capi/acquired.hpp"
#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/lost_watch.hpp"
#include "embed/capi/observed.hpp"
#include "embed/capi/options.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/election.hpp>

using namespace mortise::capi;

struct mortise_election {
    mortise::Election election;
};

struct mortise_leader {
    mortise::Leader leader;
};

int mortise_election_new(const mortise_node* node, const char* name, size_t name_length,
                         mortise_election** election, mortise_error** error) {
    clear(election);
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require(election != nullptr, "election is NULL");
        const auto wanted = text(name, name_length, "name is NULL");
        *election = new mortise_election{mortise::Election{node->node, wanted}};
    });
}

void mortise_election_free(mortise_election* election) {
    delete election;
}

int mortise_election_campaign(mortise_election* election, const char* value, size_t value_length,
                              const mortise_acquire_options* options, mortise_hold** hold,
                              mortise_error** error) {
    clear(hold);
    return guarded(error, [&] {
        require(election != nullptr, "election is NULL");
        require(hold != nullptr, "hold is NULL");
        const auto published = text(value, value_length, "value is NULL");
        *hold = handle_of(election->election.campaign(published, options_of(options)));
    });
}

int mortise_election_campaign_async(mortise_election* election, const char* value,
                                    size_t value_length, const mortise_acquire_options* options,
                                    mortise_acquired_callback acquired, void* context,
                                    void (*destroy)(void* context), mortise_error** error) {
    std::string published;
    const auto start = [&](const auto& node, auto order, auto end) {
        mortise::detail::start_campaign(node, std::move(order), std::move(published),
                                        std::move(end));
    };
    return begin_async(Then<AcquireEnd>{acquired, context, destroy}, error, start, [&] {
        const auto& asked = existing(election, "election is NULL").election;
        published = text(value, value_length, "value is NULL");
        return Asked<mortise::detail::AcquireOrder>{
            mortise::detail::runtime_of(asked),
            order_of(asked.name(), options, mortise::detail::Attempt::wait,
                     mortise::detail::Deadline::max())};
    });
}

int mortise_election_publish(mortise_election* election, const mortise_hold* hold,
                             const char* value, size_t value_length, mortise_error** error) {
    return guarded(error, [&] {
        auto& asked = existing(election, "election is NULL").election;
        asked.publish(existing(hold, "hold is NULL").hold,
                      text(value, value_length, "value is NULL"));
    });
}

int mortise_election_resign(mortise_election* election, mortise_hold* hold, mortise_error** error) {
    return guarded(error, [&] {
        require(election != nullptr, "election is NULL");
        require(hold != nullptr, "hold is NULL");
        require(hold->name == election->election.name(), "hold is of another name");
        give_up(*hold, [&](mortise::Hold& held) {
            std::error_code ec;
            election->election.resign(held, ec);
            return ec;
        });
    });
}

int mortise_election_leader(mortise_election* election, mortise_leader** leader,
                            mortise_error** error) {
    clear(leader);
    return guarded(error, [&] {
        require(election != nullptr, "election is NULL");
        require(leader != nullptr, "leader is NULL");
        auto found = election->election.leader();
        if (found) *leader = new mortise_leader{*std::move(found)};
    });
}

uint64_t mortise_leader_node(const mortise_leader* leader) {
    return leader != nullptr ? leader->leader.node : 0;
}

int64_t mortise_leader_token(const mortise_leader* leader) {
    return leader != nullptr ? leader->leader.token.raw() : 0;
}

const char* mortise_leader_value(const mortise_leader* leader, size_t* length) {
    if (length != nullptr) *length = leader != nullptr ? leader->leader.value.size() : 0;
    return leader != nullptr ? leader->leader.value.c_str() : "";
}

void mortise_leader_free(mortise_leader* leader) {
    delete leader;
}

int mortise_election_observe(mortise_election* election, mortise_leader_callback told,
                             void* context, void (*destroy)(void* context),
                             mortise_observation** observation, mortise_error** error) {
    return observed(observation, error, {context, destroy}, [&](auto kept) {
        require(told != nullptr, "told is NULL");
        return existing(election, "election is NULL")
            .election.observe([told, kept](const std::optional<mortise::Leader>& leader) {
                if (!leader) return told(kept->get(), nullptr);
                const mortise_leader shown{*leader};
                told(kept->get(), &shown);
            });
    });
}

void mortise_observation_free(mortise_observation* observation) {
    delete observation;
}
