// Looking at locks and sessions, as JSON.
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/observed.hpp"
#include "embed/capi/structs.hpp"
#include "embed/json_form/fields.hpp"
#include "embed/json_form/written.hpp"
#include <mortise/enums.hpp>
#include <mortise/observe.hpp>
#include <mortise/prometheus.hpp>

using namespace mortise::capi;

namespace mortise::capi {
namespace {

constexpr std::size_t oldest_observe_options = 32;
static_assert(sizeof(mortise_observe_options) >= oldest_observe_options);

// What `mortise inspect --json` and `mortise watch --json` tell.
constexpr json_form::Detail with_values{.value_bytes = true};

using Form = json_form::Fields<json_form::Written>;

ReadLevel level_of(mortise_read_level level) {
    switch (level) {
        case MORTISE_READ_LINEARIZABLE: return ReadLevel::linearizable;
        case MORTISE_READ_LOCAL: return ReadLevel::local;
        default: throw Misuse{"level is no read level"};
    }
}

ObserveOptions observe_options_of(const mortise_observe_options* given) {
    ObserveOptions options;
    if (given == nullptr) return options;
    const auto known = read_struct(*given, oldest_observe_options);
    require(known.reserved == 0, "options->reserved is not 0");
    options.only_this_name = known.only_this_name != 0;
    const auto from = text(known.position, known.position_length, "options->position is NULL");
    if (from.empty()) return options;
    options.from = Position::from_string(from);
    require(options.from.has_value(), "options->position is no position");
    return options;
}

// An event that has no room in memory is told as one that was lost: what the program believes may
// be wrong from then on.
void tell(mortise_event_callback told, void* context, const Event& event) {
    std::optional<std::string> said;
    try {
        said = Form::json_of(event, with_values).text();
    } catch (const std::bad_alloc&) {
        return told(context, nullptr, 0);
    }
    told(context, said->c_str(), said->size());
}

}  // namespace
}  // namespace mortise::capi

int mortise_node_inspect(mortise_node* node, const char* name, size_t name_length,
                         mortise_read_level level, char** json, size_t* json_length,
                         mortise_error** error) {
    return give_bytes(json, json_length, error, [&] {
        auto& asked = existing(node, "node is NULL").node;
        const auto lock = asked.inspect(text(name, name_length, "name is NULL"), level_of(level));
        return Form::json_of(lock, with_values).text();
    });
}

int mortise_node_list(mortise_node* node, const char* prefix, size_t prefix_length,
                      const char* after, size_t after_length, size_t limit,
                      mortise_read_level level, char** json, size_t* json_length,
                      mortise_error** error) {
    return give_bytes(json, json_length, error, [&] {
        auto& asked = existing(node, "node is NULL").node;
        require(limit > 0, "limit is 0");
        const auto locks =
            asked.list(text(prefix, prefix_length, "prefix is NULL"),
                       text(after, after_length, "after is NULL"), limit, level_of(level));
        return Form::list(locks).text();
    });
}

int mortise_node_sessions(mortise_node* node, mortise_read_level level, char** json,
                          size_t* json_length, mortise_error** error) {
    return give_bytes(json, json_length, error, [&] {
        auto& asked = existing(node, "node is NULL").node;
        return Form::list(asked.sessions(level_of(level))).text();
    });
}

int mortise_node_metrics(mortise_node* node, char** json, size_t* json_length,
                         mortise_error** error) {
    return give_bytes(json, json_length, error, [&] {
        return Form::json_of(existing(node, "node is NULL").node.metrics()).text();
    });
}

int mortise_node_prometheus(mortise_node* node, char** text, size_t* length,
                            mortise_error** error) {
    return give_bytes(text, length, error, [&] {
        return mortise::prometheus_text(existing(node, "node is NULL").node);
    });
}

int mortise_node_observe(mortise_node* node, const char* prefix, size_t prefix_length,
                         const mortise_observe_options* options, mortise_event_callback told,
                         void* context, void (*destroy)(void* context),
                         mortise_observation** observation, mortise_error** error) {
    return observed(observation, error, {context, destroy}, [&](auto kept) {
        require(told != nullptr, "told is NULL");
        auto& asked = existing(node, "node is NULL").node;
        return asked.observe(
            text(prefix, prefix_length, "prefix is NULL"),
            [told, kept](const mortise::Event& event) { tell(told, kept->get(), event); },
            observe_options_of(options));
    });
}
