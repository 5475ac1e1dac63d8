#include "storage/log/log_rows.hpp"

#include <gtest/gtest.h>

#include "core/raft/bounds.hpp"
#include "storage/state/state_rows.hpp"
#include "tests/support/page_bytes.hpp"

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

// docs/formats.md has the bytes of a row, line by line, each with its meaning.
TEST(LogRows, AreAsTheFormatsPageShowsThem) {
    const auto before = core::make_entry({Term{2}, LogIndex{4}}, core::EntryKind::noop, {});
    const auto entry = core::make_entry({Term{2}, LogIndex{5}}, core::EntryKind::commands,
                                        core::Bytes{bytes_on_formats_page("01 02  ")});
    const auto shown = bytes_on_formats_page("45  ");
    ASSERT_EQ(shown, entry_key(entry.id.index) + encode_entry_head(entry, before.checksum) +
                         std::string{entry.payload.view()});
    const auto row = decode_entry(entry.id.index, shown.substr(entry_key({}).size()));
    ASSERT_TRUE(row);
    EXPECT_EQ(row->entry, entry);
    EXPECT_EQ(row->previous, before.checksum);
}

}  // namespace
}  // namespace mortise::storage::test
