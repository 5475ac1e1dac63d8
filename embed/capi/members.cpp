// The members of the cluster.
#include <cstddef>
#include <cstdint>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/json_form/fields.hpp"
#include "embed/json_form/written.hpp"

using namespace mortise::capi;

int mortise_node_members(mortise_node* node, char** json, size_t* json_length,
                         mortise_error** error) {
    return give_bytes(json, json_length, error, [&] {
        using Form = mortise::json_form::Fields<mortise::json_form::Written>;
        return Form::list(existing(node, "node is NULL").node.status().members).text();
    });
}

int mortise_node_add_member(mortise_node* node, uint64_t id, const char* address,
                            size_t address_length, mortise_error** error) {
    return guarded(error, [&] {
        existing(node, "node is NULL")
            .node.add_member(id, text(address, address_length, "address is NULL"));
    });
}

int mortise_node_promote_member(mortise_node* node, uint64_t id, mortise_error** error) {
    return guarded(error, [&] { existing(node, "node is NULL").node.promote_member(id); });
}

int mortise_node_remove_member(mortise_node* node, uint64_t id, mortise_error** error) {
    return guarded(error, [&] { existing(node, "node is NULL").node.remove_member(id); });
}

int mortise_node_move_member(mortise_node* node, uint64_t id, const char* address,
                             size_t address_length, mortise_error** error) {
    return guarded(error, [&] {
        existing(node, "node is NULL")
            .node.move_member(id, text(address, address_length, "address is NULL"));
    });
}

int mortise_node_transfer_leadership(mortise_node* node, uint64_t id, mortise_error** error) {
    return guarded(error, [&] { existing(node, "node is NULL").node.transfer_leadership(id); });
}
