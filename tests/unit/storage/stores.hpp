// One suite of tests for the stores on disk and in memory.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {

template <class Place>
class Stores : public testing::Test {
protected:
    // The next run; the previous one has ended.
    Opened& start() {
        node_ = {};
        auto opened = place_->open();
        if (!opened) throw std::runtime_error{opened.error().what};
        node_ = *std::move(opened);
        return node_;
    }
    LogContent after_restart() { return content_of(start()); }

    std::optional<Place> place_{std::in_place};
    Opened node_;
};

class Name {
public:
    template <class Place>
    static std::string GetName(int /*number*/) {
        return std::is_same_v<Place, OnDisk> ? "OnDisk" : "InMemory";
    }
};
using Places = testing::Types<OnDisk, InMemory>;
inline const std::vector<Entry> four{commands(log_id(1, 1), "one"), commands(log_id(1, 2), "two"),
                                     commands(log_id(2, 3), ""), commands(log_id(2, 4), "four")};

// Purges what the state has, as a node does.
inline void purge(Opened& node, LogId to) {
    auto machine = machine_at(to.index);
    ASSERT_TRUE(node.state_store->write({to, {}, machine.take_changed_rows()}));
    ASSERT_EQ(*node.state_store->flush(), to.index);
    ASSERT_TRUE(node.log->purge_to({to, core::test::voters({1, 2, 3})}));
}

}  // namespace mortise::storage::test
