#include "core/codec/command_codec.hpp"

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

Bytes encoded(const std::vector<Command>& commands, std::uint8_t format = command_format_oldest) {
    BatchBuilder builder;
    for (const auto& command : commands)
        builder.add(command);
    return builder.take(format);
}

Command request(RequestBody body, std::uint64_t after = 0) {
    Request made;
    made.session = SessionId{300};
    made.seq = Seq{70'000};
    made.after = Seq{after};
    made.body = std::move(body);
    return made;
}

OpenSession opening_as(Access access) {
    OpenSession open{1, NodeId{2}, Incarnation{3}, BootEpoch{4}, 5, 6, false};
    open.access = std::move(access);
    return open;
}

// One of each kind, small numbers and large ones.
std::vector<Command> samples() {
    constexpr auto huge = ~std::uint64_t{0};
    return {
        OpenSession{1, NodeId{2}, Incarnation{3}, BootEpoch{4}, 5, 6, false},
        OpenSession{huge, NodeId{huge}, Incarnation{huge}, BootEpoch{huge}, ~0U, 499'999, true},
        opening_as({{AccessRole::learner}, {}}),
        opening_as({{AccessRole::voter, AccessRole::admin},
                    {{Right::acquire, std::string(access_prefix_bytes_max, 'p')},
                     {Right::members, {}},
                     {Right::observe, {}}}}),
        Renew{{}},
        Renew{{{SessionId{1}, 0}, {SessionId{huge}, huge}}},
        CloseSession{SessionId{7}},
        Expire{SessionId{8}, LogIndex{9}},
        Sweep{},
        Acknowledge{SessionId{10}, LogIndex{huge}},
        request(Acquire{"a", shared, true, {}, false, {}}),
        request(Acquire{std::string("\0\xff", 2), exclusive, false, QueuePolicy::fifo, true, "who"},
                69'999),
        request(Acquire{std::string(name_bytes_max, 'n'),
                        update,
                        true,
                        {},
                        true,
                        std::string(label_bytes_max, 'l')}),
        request(Acquire{"b", shared, true, QueuePolicy::prefer_writers, true, {}, priority_max}),
        request(Release{Seq{1}}),
        request(Cancel{Seq{huge}}, huge),
        request(Downgrade{Seq{3}, intent_shared}),
        request(Upgrade{Seq{4}, true}),
        request(AcquireSeveral{AcquireSeveral::Which::any,
                               {{"b", shared}, {"a", exclusive}},
                               false,
                               QueuePolicy::fifo,
                               true,
                               "who",
                               3,
                               {}}),
        request(AcquireSeveral{AcquireSeveral::Which::all,
                               {{"x", update}, {"y", shared}},
                               true,
                               {},
                               false,
                               {},
                               0,
                               {Seq{1}, Seq{huge}}},
                70'000),
        request(Upgrade{Seq{huge}, false}, 3),
        request(SetValue{Seq{1}, "a", {}}),
        request(SetValue{Seq{huge}, "a", std::string(value_bytes_max, '\xff')}),
        request(MarkConsistent{Seq{5}, "a"}),
        request(BreakLock{"a", FencingToken{huge}, std::string(reason_bytes_max, 'r'), true}),
        request(BreakLock{"b", FencingToken{1}, {}}),
        request(BreakLock{"b", FencingToken{1}, {}, false, std::string(asked_by_bytes_max, 'a')}),
        request(AskRelease{"b", std::string(reason_bytes_max, 'r')}),
        request(AskRelease{"b", {}}),
        EndClosure{ClosureId{huge}},
        request(Release{Seq{huge}, true}),
        request(Acquire{"b", shared, true, {}, false, {}, 0, {}, {1, 0, 0xffff'ffff}}),
        request(Acquire{"b", shared, true, {}, false, {}, 0, {huge, "locker"}, {0, 5, 0}}),
        request(AcquireSeveral{AcquireSeveral::Which::any,
                               {{"b", shared}},
                               true,
                               {},
                               false,
                               {},
                               0,
                               {},
                               {},
                               {1, 2, 3}}),
        request(Acquire{"b", shared, true, {}, false, "hold", 2, {huge, "locker"}}),
        request(AcquireSeveral{AcquireSeveral::Which::any,
                               {{"b", shared}},
                               true,
                               {},
                               false,
                               {},
                               0,
                               {Seq{5}},
                               {6, {}}}),
    };
}

// Those that the oldest form has.
std::vector<Command> old_samples() {
    auto old = samples();
    std::erase_if(old, [](const Command& command) {
        if (std::holds_alternative<EndClosure>(command)) return true;
        const auto* opening = std::get_if<OpenSession>(&command);
        if (opening != nullptr) return format_needed(opening->access) > command_format_oldest;
        const auto* request = std::get_if<Request>(&command);
        return request != nullptr && format_needed(request->body) > command_format_oldest;
    });
    return old;
}

// What decodes is the one byte form of what it decodes to. Excepted are commands with an identity,
// which this version reads of a break alone: of the first, its length is behind the kind.
void expect_error_or_same(const std::string& bytes) {
    const Bytes batch{bytes};
    const auto commands = decode_batch(batch);
    if (!commands) return;
    const std::size_t identity = format_of(batch) == 1 ? 2 : 3;
    const bool all_known = commands->empty() || (commands->size() == 1 && bytes[identity] == 0);
    const auto again = encoded(*commands, format_of(batch));
    if (all_known || again.size() == bytes.size()) {
        EXPECT_EQ(again, batch);
    } else {
        EXPECT_EQ(decode_batch(again), commands);
    }
}

TEST(CommandCodec, RoundTrip) {
    for (const auto& command : samples()) {
        const auto commands = decode_batch(encoded({command}));
        ASSERT_TRUE(commands.has_value());
        EXPECT_EQ(*commands, std::vector<Command>{command});
    }
    for (const auto format : {command_format_oldest, command_format_newest}) {
        const auto all = decode_batch(encoded(samples(), format));
        ASSERT_TRUE(all.has_value());
        EXPECT_EQ(*all, samples());
    }
}

TEST(CommandCodec, ANewerFormSaysHowManyCommandsThereAre) {
    const auto whole = std::string{encoded(old_samples(), 2).view()};
    for (std::size_t size = 1; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_batch(Bytes{whole.substr(0, size)}).has_value()) << size;
    }
    auto more = whole;
    more += std::string{encoded({Sweep{}}).view().substr(1)};
    EXPECT_FALSE(decode_batch(Bytes{more}).has_value());
}

TEST(CommandCodec, AnOlderVersionReadsNoNewerForm) {
    for (std::uint8_t format = 1; format <= command_format_newest; ++format) {
        const auto batch = encoded(old_samples(), format);
        EXPECT_EQ(format_of(batch), format);
        for (std::uint8_t reads = 1; reads <= command_format_newest; ++reads)
            EXPECT_EQ(decode_batch(batch, reads).has_value(), format <= reads);
    }
}

TEST(CommandCodec, ConversionsAndSeveralNamesAreOfTheThirdForm) {
    EXPECT_EQ(format_needed(Acquire{}), 1);
    EXPECT_EQ(format_needed(Cancel{}), 1);
    const std::vector<RequestBody> newer{Downgrade{Seq{1}, shared},
                                         Upgrade{Seq{1}, true},
                                         AcquireSeveral{{}, {{"a", shared}}, true, {}, false, {}},
                                         SetValue{Seq{1}, "a", {}},
                                         MarkConsistent{Seq{1}, "a"},
                                         BreakLock{"a", FencingToken{1}, {}},
                                         AskRelease{"a", {}}};
    for (const auto& body : newer) {
        EXPECT_EQ(format_needed(body), 3);
        EXPECT_EQ(format_of(encoded({Sweep{}, request(body), Sweep{}})), 3);
        auto bytes = std::string{encoded({request(body)}).view()};
        bytes[0] = 2;  // and the rest is the same
        EXPECT_FALSE(decode_batch(Bytes{bytes}).has_value());
    }
}

// What fits into one form fits into every other: a leader that takes over what was forwarded does
// not look.
TEST(CommandCodec, ABatchMayWeighTheSameInEveryForm) {
    const auto full = [](std::size_t bytes, std::uint8_t format) {
        BatchBuilder builder;
        const auto left = [&] { return bytes - builder.bytes(); };
        AcquireSeveral several;
        for (std::size_t i = 0; i < names_at_once_max; ++i)
            several.names.push_back({std::string(name_bytes_max - 1, 'n') + char('0' + i), shared});
        while (left() > (names_at_once_max + 1) * (name_bytes_max + 16))
            builder.add(request(several));
        while (left() > 64) {
            const std::string name(std::min(name_bytes_max, left() - 40), 'n');
            builder.add(request(Acquire{name, shared, true, {}, false, {}}));
        }
        if ((bytes - builder.bytes()) % 2 != 0) builder.add(CloseSession{SessionId{1}});
        while (builder.bytes() < bytes)
            builder.add(Sweep{});
        return builder.take(format);
    };
    for (const auto format : {command_format_oldest, command_format_newest}) {
        EXPECT_TRUE(decode_batch(full(batch_bytes_max - 1, format)).has_value());
        EXPECT_FALSE(decode_batch(full(batch_bytes_max, format)).has_value());
    }
}

TEST(CommandCodec, AnEmptyBatchHasNoCommands) {
    const auto commands = decode_batch(encoded({}));
    ASSERT_TRUE(commands.has_value());
    EXPECT_TRUE(commands->empty());
    EXPECT_FALSE(decode_batch(Bytes{}).has_value());
}

TEST(CommandCodec, AnotherVersionIsNotRead) {
    auto bytes = std::string{encoded(samples()).view()};
    for (const int version : {0, command_format_newest + 1, 255}) {
        bytes[0] = static_cast<char>(version);
        EXPECT_FALSE(decode_batch(Bytes{bytes}).has_value()) << version;
    }
}

TEST(CommandCodec, EveryTruncationIsAnErrorOrEndsBetweenCommands) {
    for (const auto& command : samples()) {
        const auto bytes = std::string{encoded({command}).view()};
        for (std::size_t size = 2; size < bytes.size(); ++size) {
            EXPECT_FALSE(decode_batch(Bytes{bytes.substr(0, size)}).has_value()) << size;
        }
    }
    const auto bytes = std::string{encoded(samples()).view()};
    for (std::size_t size = 1; size < bytes.size(); ++size) {
        const Bytes part{bytes.substr(0, size)};
        if (const auto commands = decode_batch(part)) {
            EXPECT_EQ(encoded(*commands), part);
        }
    }
}

TEST(CommandCodec, EveryFlippedByteIsAnErrorOrAnotherCommand) {
    for (const auto& command : samples()) {
        const auto whole = std::string{encoded({command}).view()};
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (int value = 0; value < 256; ++value) {
                auto bytes = whole;
                bytes[at] = static_cast<char>(value);
                expect_error_or_same(bytes);
            }
        }
    }
}

TEST(CommandCodec, AFlippedByteIsNeverTakenForTheSameCommand) {
    for (const auto& command : samples()) {
        const auto whole = std::string{encoded({command}).view()};
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                auto bytes = whole;
                bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
                const auto commands = decode_batch(Bytes{bytes});
                EXPECT_TRUE(!commands || *commands != std::vector<Command>{command});
            }
        }
    }
}

TEST(CommandCodec, NoiseIsAnErrorOrTheOneFormOfSomething) {
    Prng prng{11};
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes(1, static_cast<char>(1 + prng.below(command_format_newest)));
        for (auto left = prng.below(24); left > 0; --left) {
            // Small values get further.
            bytes.push_back(static_cast<char>(prng.one_in(3) ? prng.below(256) : prng.below(10)));
        }
        expect_error_or_same(bytes);
    }
}

TEST(CommandCodec, RefusesWhatIsBeyondTheLimits) {
    const auto decodes = [](const Command& command) {
        return decode_batch(encoded({command})).has_value();
    };
    const auto acquire = [](std::string name, std::string label) {
        return request(Acquire{std::move(name), shared, true, {}, false, std::move(label)});
    };
    EXPECT_FALSE(decodes(acquire("", "")));
    EXPECT_FALSE(decodes(acquire(std::string(name_bytes_max + 1, 'n'), "")));
    EXPECT_FALSE(decodes(acquire("n", std::string(label_bytes_max + 1, 'l'))));
    AcquireSeveral several;
    for (std::size_t i = 0; i < names_at_once_max; ++i)
        several.names.push_back({"n" + std::to_string(100 + i), shared});
    EXPECT_TRUE(decodes(request(several)));
    several.names.push_back({"o", shared});
    EXPECT_FALSE(decodes(request(several)));
    const OpenSession open{1, NodeId{2}, Incarnation{3}, BootEpoch{4}, 5, 6, false};
    auto wrong = open;
    wrong.ttl_ms = 0;
    EXPECT_FALSE(decodes(wrong));
    wrong = open;
    wrong.rho_ppm = 500'000;
    EXPECT_FALSE(decodes(wrong));
    EXPECT_TRUE(decodes(open));

    const std::vector<Command> full(batch_commands_max, Sweep{});
    EXPECT_TRUE(decode_batch(encoded(full)).has_value());
    auto over = full;
    over.emplace_back(Sweep{});
    EXPECT_FALSE(decode_batch(encoded(over)).has_value());
}

TEST(CommandCodec, RefusesAnAccessThatNoCertificateHas) {
    const auto decodes = [](Access access) {
        return decode_batch(encoded({opening_as(std::move(access))})).has_value();
    };
    const std::vector<AccessRule> many(access_rules_max, {Right::acquire, "a"});
    EXPECT_TRUE(decodes({{AccessRole::voter}, many}));
    auto rules = many;
    rules.push_back({Right::acquire, "a"});
    EXPECT_FALSE(decodes({{AccessRole::voter}, rules}));
    EXPECT_FALSE(decodes({{AccessRole::learner, AccessRole::voter}, {}}));
    EXPECT_FALSE(decodes({{AccessRole::learner, AccessRole::learner}, {}}));
    EXPECT_FALSE(decodes({{static_cast<AccessRole>(5)}, {}}));
    EXPECT_FALSE(decodes({{AccessRole::voter}, {{static_cast<Right>(4), {}}}}));
    EXPECT_FALSE(decodes({{AccessRole::voter}, {{Right::members, "a"}}}));
    const std::string too_long(access_prefix_bytes_max + 1, 'p');
    EXPECT_FALSE(decodes({{AccessRole::voter}, {{Right::acquire, too_long}}}));
}

TEST(CommandCodec, RefusesUnsetIds) {
    const auto decodes = [](const Command& command) {
        return decode_batch(encoded({command})).has_value();
    };
    const OpenSession open{1, NodeId{2}, Incarnation{3}, BootEpoch{4}, 5, 6, false};
    auto nobody = open;
    nobody.nonce = 0;
    EXPECT_FALSE(decodes(nobody));
    nobody = open;
    nobody.node = {};
    EXPECT_FALSE(decodes(nobody));
    nobody = open;
    nobody.incarnation = {};
    EXPECT_FALSE(decodes(nobody));
    nobody = open;
    nobody.boot_epoch = {};
    EXPECT_FALSE(decodes(nobody));
    EXPECT_TRUE(decodes(open));
    EXPECT_FALSE(decodes(CloseSession{}));
    EXPECT_FALSE(decodes(Expire{SessionId{}, LogIndex{1}}));
    EXPECT_FALSE(decodes(Acknowledge{SessionId{}, LogIndex{1}}));
    EXPECT_FALSE(decodes(Expire{SessionId{1}, {}}));
    EXPECT_FALSE(decodes(Acknowledge{SessionId{1}, {}}));
    EXPECT_FALSE(decodes(Renew{{{SessionId{}, 1}}}));
    Request asked;
    asked.body = Cancel{Seq{1}};
    asked.session = SessionId{1};
    EXPECT_FALSE(decodes(asked));
    asked.seq = Seq{1};
    EXPECT_TRUE(decodes(asked));
    asked.session = SessionId{};
    EXPECT_FALSE(decodes(asked));
    EXPECT_FALSE(decodes(request(Release{})));
    EXPECT_FALSE(decodes(request(Cancel{})));
}

TEST(CommandCodec, ACountOfAStrangerSizesNoAllocation) {
    // A Renew that claims 2^60 renewals.
    std::string bytes{static_cast<char>(command_format_oldest), 2, 0};
    bytes += "\x80\x80\x80\x80\x80\x80\x80\x80\x10";
    EXPECT_FALSE(decode_batch(Bytes{bytes}).has_value());
}

TEST(BatchBuilder, TakesOverWhatOthersEncoded) {
    const auto theirs = encoded({samples()[0], samples()[8]}, command_format_newest);
    BatchBuilder builder;
    EXPECT_TRUE(builder.is_empty());
    builder.add(samples()[5]);
    builder.add_encoded(commands_of(theirs), 2, 1);
    EXPECT_EQ(builder.count(), 3U);
    EXPECT_FALSE(builder.is_empty());
    const auto size = builder.bytes();
    const auto batch = builder.take();
    EXPECT_EQ(batch.size(), size + 1);
    EXPECT_TRUE(builder.is_empty());
    EXPECT_EQ(builder.bytes(), 0U);
    const auto commands = decode_batch(batch);
    ASSERT_TRUE(commands.has_value());
    EXPECT_EQ(*commands, (std::vector<Command>{samples()[5], samples()[0], samples()[8]}));
    builder.add_encoded(commands_of(theirs), 2, 2);
    EXPECT_EQ(format_of(builder.take()), 2);
    builder.add(samples()[5]);
    EXPECT_EQ(format_of(builder.take()), 1);
}

}  // namespace
}  // namespace mortise::core
