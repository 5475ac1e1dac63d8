// The changes of names by one entry, in the order in which they happened (S46). They are noted
// whether or not anybody observes, because their positions must be equal on every replica.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/locks/name_change.hpp"
#include "core/locks/table/holder.hpp"

namespace mortise::core {

// Its memory is used again for the next entry, so that nothing is allocated for most changes.
class NameChanges {
public:
    // Forgets the changes of the entry before.
    void begin_entry();
    // A change of that hold; the caller fills in the rest.
    NameChange& add(NameChange::Kind kind, std::string_view name, const Holder& of);
    // Fills in the nodes of the changes since the last call.
    template <class NodeOf>
    void name_nodes(const NodeOf& node_of) {
        for (; named_ < size_; ++named_)
            changes_[named_].node = node_of(changes_[named_].hold.session);
    }
    [[nodiscard]] std::span<NameChange> all() { return {changes_.data(), size_}; }

private:
    std::vector<NameChange> changes_;  // the first `size_` belong to this entry
    std::size_t size_ = 0;
    std::size_t named_ = 0;
};

}  // namespace mortise::core
