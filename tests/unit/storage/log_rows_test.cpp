#include "storage/log_rows.hpp"

#include <gtest/gtest.h>

#include "core/raft/bounds.hpp"
#include "storage/state_rows.hpp"

namespace mortise::storage::test {
namespace {

using core::LogId;
using core::LogIndex;
using core::Term;

constexpr LogId highest{Term{core::term_end - 1}, LogIndex{core::log_index_max}};

// The checksum is correct, but no correct node writes this: values from a disk are sent to others.
TEST(LogRows, HaveNumbersInBounds) {
    EXPECT_TRUE(decode_hard_state(encode_hard_state({highest.term, {}})));
    EXPECT_FALSE(decode_hard_state(encode_hard_state({highest.term.next(), {}})));

    const auto entry = [](Term term) {
        const auto made = core::make_entry({term, LogIndex{7}}, core::EntryKind::noop, {});
        return decode_entry(made.id.index, encode_entry_head(made, 0));
    };
    EXPECT_TRUE(entry(highest.term));
    EXPECT_FALSE(entry(highest.term.next()));

    const auto head = [](LogId base) {
        LogHead made;
        made.base.id = base;
        return decode_log_head(encode_log_head(made));
    };
    EXPECT_TRUE(head(highest));
    EXPECT_FALSE(head({highest.term.next(), highest.index}));
    EXPECT_FALSE(head({highest.term, highest.index.next()}));

    const auto applied = [](LogId at) {
        AppliedRow made;
        made.applied = at;
        return decode_applied(encode_applied(made));
    };
    EXPECT_TRUE(applied(highest));
    EXPECT_FALSE(applied({highest.term.next(), highest.index}));
}

}  // namespace
}  // namespace mortise::storage::test
