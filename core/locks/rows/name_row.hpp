// The value of the row of a name: its record and its waiters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/locks/name_extras.hpp"
#include "core/locks/table/lock_record.hpp"
#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

struct SavedName {
    LockRecord record;
    WaitQueue queue;
    NameExtras extras;
};

[[nodiscard]] std::string encode_name(const LockRecord& record, const WaitQueue* queue,
                                      const LockValue* value, const std::vector<Closure>& closures);
[[nodiscard]] std::optional<SavedName> decode_name(std::string_view value);

}  // namespace mortise::core
