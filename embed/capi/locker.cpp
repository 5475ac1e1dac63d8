// Explicit owners of holds.
#include <cstddef>
#include <string>
#include <utility>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/error.hpp"
#include "embed/capi/handles.hpp"

using namespace mortise::capi;

int mortise_locker_new(mortise_node* node, const char* label, size_t label_length,
                       mortise_locker** locker, mortise_error** error) {
    clear(locker);
    return guarded(error, [&] {
        auto& owner = existing(node, "node is NULL").node;
        require(locker != nullptr, "locker is NULL");
        std::string words{text(label, label_length, "label is NULL")};
        *locker = new mortise_locker{mortise::Locker{owner, std::move(words)}};
    });
}

void mortise_locker_free(mortise_locker* locker) {
    delete locker;
}

size_t mortise_locker_hold_count(const mortise_locker* locker) {
    return locker != nullptr ? locker->locker.hold_count() : 0;
}

int mortise_locker_release_all(mortise_locker* locker, mortise_error** error) {
    return guarded(error, [&] {
        if (const auto failed = existing(locker, "locker is NULL").locker.release_all())
            throw HoldFailure{failed, {}};
    });
}
