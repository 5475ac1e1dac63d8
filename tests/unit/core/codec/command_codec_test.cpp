#include "core/codec/command_codec.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "core/locks/limits.hpp"
#include "tests/support/page_bytes.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

Bytes encoded(const std::vector<Command>& commands, std::uint8_t format = command_format_oldest) {
    BatchBuilder builder;
    for (const auto& command : commands)
        builder.add(command);
    return builder.take(format);
}

Request request(RequestBody body, std::uint64_t seq = 70'000) {
    return {SessionId{300}, Seq{seq}, std::move(body)};
}

OpenSession opening_as(Access access) {
    OpenSession open{1, NodeId{2}, {Incarnation{3}, BootEpoch{4}}, 5, 6, false};
    open.access = std::move(access);
    return open;
}

OpenSession opening_from(Origin origin) {
    auto open = opening_as(Access::all());
    open.origin = std::move(origin);
    return open;
}

Request cached(LockMode mode, std::uint32_t tokens) {
    Acquire asked{{{"b", mode}}, true, {}, false, "who", 2};
    asked.cached_tokens = tokens;
    return request(std::move(asked));
}

Request permits(std::uint32_t permits, std::uint32_t limit) {
    Acquire asked{{{"b", exclusive}}, true, {}, false, "who", 2};
    asked.permits = permits;
    asked.limit = limit;
    return request(std::move(asked));
}

// What only format 2 has.
std::vector<Command> newer_samples() {
    constexpr auto huge = ~std::uint64_t{0};
    auto restricted = opening_as({{AccessRole::client}, {{Right::acquire, "p"}}});
    restricted.origin = {{}, {}, 0, "h"};
    return {
        Clock{1},
        Clock{clock_ms_max},
        RaiseCeiling{FencingToken{1}},
        RaiseCeiling{FencingToken{token_ceiling_max}},
        request(EvictSession{SessionId{1}, "", false}),
        request(EvictSession{SessionId{huge}, std::string(reason_bytes_max, 'r'), true,
                             std::string(asked_by_bytes_max, 'a')}),
        opening_from({"db3", "backup", 4711, "10.0.0.7:5000"}),
        opening_from({{}, {}, 1, {}}),
        opening_from({std::string(origin_host_bytes_max, 'h'),
                      std::string(origin_program_bytes_max, 'p'), huge,
                      std::string(origin_address_bytes_max, 'a')}),
        restricted,
    };
}

// One command of each kind that format 1 has, with small and large numbers.
std::vector<Command> older_samples() {
    constexpr auto huge = ~std::uint64_t{0};
    return {
        OpenSession{1, NodeId{2}, {Incarnation{3}, BootEpoch{4}}, 5, 6, false},
        OpenSession{huge,
                    NodeId{huge},
                    {Incarnation{huge}, BootEpoch{huge}},
                    session_ttl_ms_max,
                    499'999,
                    true},
        opening_as({{AccessRole::learner}, {}}),
        opening_as({{AccessRole::voter, AccessRole::admin},
                    {{Right::acquire, std::string(access_prefix_bytes_max, 'p')},
                     {Right::members, {}},
                     {Right::observe, {}}}}),
        Renew{{}},
        Renew{{{SessionId{1}, 0}, {SessionId{huge}, huge}}},
        Expire{SessionId{8}, LogIndex{9}},
        Sweep{},
        Acknowledge{SessionId{10}, LogIndex{huge}},
        request(Acquire{{{"a", shared}}, true, {}, false, {}}),
        request(Acquire{
            {{std::string("\0\xff", 2), exclusive}}, false, QueuePolicy::fifo, true, "who"}),
        request(Acquire{{{std::string(name_bytes_max, 'n'), update}},
                        true,
                        {},
                        true,
                        std::string(label_bytes_max, 'l')}),
        request(
            Acquire{{{"b", shared}}, true, QueuePolicy::prefer_writers, true, {}, priority_max}),
        request(Release{Seq{1}}),
        request(Release{Seq{69'999}, true}),
        request(Release{Seq{huge}, true}),
        request(Cancel{Seq{huge}}, huge),
        request(Cancel{Seq{huge}}, 1),
        request(Downgrade{Seq{3}, intent_shared}),
        request(Upgrade{Seq{4}, true}),
        request(Acquire{{{"b", shared}, {"a", exclusive}},
                        false,
                        QueuePolicy::fifo,
                        true,
                        "who",
                        3,
                        {},
                        {},
                        Acquire::Which::any}),
        request(Acquire{
            {{"x", update}, {"y", shared}}, true, {}, false, {}, 0, {}, {}, Acquire::Which::all}),
        request(Upgrade{Seq{huge}, false}, 3),
        request(SetValue{Seq{1}, "a", {}}),
        request(SetValue{Seq{huge}, "a", std::string(value_bytes_max, '\xff')}),
        request(MarkConsistent{Seq{5}, "a"}),
        request(BreakLock{"a", FencingToken{huge}, std::string(reason_bytes_max, 'r'), true}),
        request(BreakLock{"b", FencingToken{1}, {}}),
        request(BreakLock{"b", FencingToken{1}, {}, false, std::string(asked_by_bytes_max, 'a')}),
        request(AskRelease{"b", std::string(reason_bytes_max, 'r')}),
        request(AskRelease{"b", {}}),
        cached(shared, 1),
        cached(exclusive, cached_tokens_max),
        permits(1, 1),
        permits(permits_max, semaphore_limit_max),
        request(Resize{"b", 0, 0}),
        request(Resize{"b", semaphore_limit_max, huge}),
        request(Remove{"b"}),
        request(CountDown{"b", 0, 0}),
        request(CountDown{"b", latch_max, latch_max}),
        request(AwaitLatch{"b", 3, {}}),
        request(AwaitLatch{"b", latch_max, "who"}),
        request(Arrive{"b", 1}),
        request(Arrive{"b", barrier_parties_max, true, "who"}),
        request(Quit{Seq{1}, "b"}),
        request(Publish{Seq{1}, FencingToken{1}}),
        request(Publish{Seq{1}, FencingToken{1}, {}, "used", true}),
        request(Publish{Seq{69'999},
                        FencingToken{huge},
                        {huge, std::string(label_bytes_max, 'k')},
                        std::string(label_bytes_max, 'l'),
                        true}),
        EndClosure{ClosureId{huge}},
        request(Acquire{{{"b", shared}}, true, {}, false, {}, 0, {}, {1, 0, 0xffff'ffff}}),
        request(Acquire{{{"b", shared}}, true, {}, false, {}, 0, {huge, "locker"}, {0, 5, 0}}),
        request(Acquire{{{"b", shared}}, true, {}, false, "hold", 2, {huge, "locker"}}),
        request(Acquire{
            {{"b", shared}}, true, {}, false, {}, 0, {6, {}}, {1, 2, 3}, Acquire::Which::all}),
        request(Declined{}),
        request(CloseSession{}),
    };
}

std::vector<Command> samples() {
    auto all = older_samples();
    for (auto& one : newer_samples())
        all.push_back(std::move(one));
    return all;
}

// Consecutive requests of a session, of every kind.
std::vector<Command> stream(SessionId session, Seq first) {
    std::vector<Command> stream;
    for (const auto& command : samples()) {
        const auto* one = std::get_if<Request>(&command);
        if (one == nullptr) continue;
        stream.emplace_back(Request{session, first, one->body});
        first = first.next();
    }
    return stream;
}

// What can be decoded has one encoding, except for the runs of its requests, of which a leader puts
// several one after the other.
void expect_error_or_same(const std::string& bytes) {
    const Bytes batch{bytes};
    const auto commands = decode_batch(batch);
    if (!commands) return;
    const auto again = encoded(*commands, format_of(batch));
    if (again.size() == bytes.size()) {
        EXPECT_EQ(again, batch);
    } else {
        EXPECT_LT(again.size(), bytes.size());
        EXPECT_EQ(decode_batch(again), commands);
    }
}

TEST(CommandCodec, RoundTrip) {
    for (const auto& command : samples()) {
        const auto commands = decode_batch(encoded({command}));
        ASSERT_TRUE(commands.has_value());
        EXPECT_EQ(*commands, std::vector<Command>{command});
    }
    const auto all = decode_batch(encoded(samples()));
    ASSERT_TRUE(all.has_value());
    EXPECT_EQ(*all, samples());
}

// --- runs of requests ---------------------------------------------------------------------------

TEST(CommandCodec, RequestsThatFollowEachOtherAreOneRun) {
    const auto size = [](const std::vector<Command>& commands) { return encoded(commands).size(); };
    constexpr std::size_t head = 2;
    const auto one = request(Cancel{Seq{69'999}}, 70'000);
    const auto next = request(Cancel{Seq{69'999}}, 70'001);
    EXPECT_EQ(size({one}), head + 1 + 2 + 3 + 2);  // the run, and the cancel
    EXPECT_EQ(size({one, next}), size({one}) + 2);
    EXPECT_EQ(size({one, Sweep{}, next}), size({one}) + 1 + 2);
    EXPECT_EQ(size({next, one}), 2 * size({one}) - head);
    EXPECT_EQ(size({one, one}), 2 * size({one}) - head);
}

TEST(CommandCodec, ARunIsOfOneSessionAndHasNoGap) {
    const std::vector<std::vector<Command>> batches{
        stream(SessionId{3}, Seq{1}),
        {Request{SessionId{3}, Seq{1}, Declined{}}, Request{SessionId{4}, Seq{2}, Declined{}}},
        {Request{SessionId{3}, Seq{1}, Declined{}}, Request{SessionId{4}, Seq{1}, Declined{}},
         Request{SessionId{3}, Seq{2}, Declined{}}},
        {Request{SessionId{3}, Seq{1}, Declined{}}, Request{SessionId{3}, Seq{3}, Declined{}},
         Request{SessionId{3}, Seq{2}, Declined{}}, Request{SessionId{3}, Seq{2}, Declined{}}},
        {Request{SessionId{3}, Seq{1}, Declined{}}, Sweep{}, Acknowledge{SessionId{4}, LogIndex{1}},
         Request{SessionId{3}, Seq{2}, Declined{}}},
    };
    for (const auto& batch : batches)
        EXPECT_EQ(decode_batch(encoded(batch)), batch);
}

TEST(CommandCodec, ARequestWithoutARunIsRefused) {
    const auto refused = [](std::string commands, char count) {
        return !decode_batch(Bytes{std::string{1, count} + commands}).has_value();
    };
    const std::string run{7, 3, 1};
    const std::string declined{18};
    EXPECT_FALSE(refused(run + declined, 1));
    EXPECT_FALSE(refused(run + declined + declined, 2));
    EXPECT_FALSE(refused(run + declined + run + declined, 2));
    EXPECT_TRUE(refused(declined, 1));
    EXPECT_TRUE(refused(run, 0));
    EXPECT_TRUE(refused(run, 1));
    EXPECT_TRUE(refused(run + declined + run, 1));
    EXPECT_TRUE(refused(run + run + declined, 1));
    EXPECT_TRUE(refused(run + std::string{4}, 1));  // a sweep is not a request
    EXPECT_TRUE(refused(run + std::string{4} + declined, 2));
    EXPECT_TRUE(refused(std::string{7, 0, 1} + declined, 1));
    EXPECT_TRUE(refused(std::string{7, 3, 0} + declined, 1));
    EXPECT_TRUE(refused(run + std::string{20}, 1));
    EXPECT_TRUE(refused(std::string{20}, 1));
}

TEST(CommandCodec, NumbersDoNotBeginAnew) {
    constexpr auto last = ~std::uint64_t{0};
    EXPECT_TRUE(decode_batch(encoded({request(Declined{}, last)})).has_value());
    EXPECT_FALSE(
        decode_batch(encoded({request(Declined{}, last), request(Declined{}, 0)})).has_value());
}

TEST(CommandCodec, ACutBatchIsNoticed) {
    const auto whole = std::string{encoded(samples()).view()};
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_batch(Bytes{whole.substr(0, size)}).has_value()) << size;
    }
    auto more = whole;
    more += std::string{encoded({Sweep{}}).view().substr(2)};
    EXPECT_FALSE(decode_batch(Bytes{more}).has_value());
}

// docs/formats.md has the bytes of an entry, line by line, each with its meaning.
TEST(CommandCodec, AnEntryIsAsTheFormatsPageShowsIt) {
    const auto shown = bytes_on_formats_page("01 02  ");
    const std::vector<Command> meant{
        Request{SessionId{3}, Seq{7}, Acquire{{{"jobs/1", exclusive}}, true, {}, false, {}}},
        Request{SessionId{3}, Seq{8}, Release{Seq{7}}}};
    EXPECT_EQ(decode_batch(Bytes{shown}), meant);
    EXPECT_EQ(encoded(meant), Bytes{shown});
}

// --- versions -----------------------------------------------------------------------------------

// A version above the newest one, which only tests use. Its commands are those of the newest one.
constexpr std::uint8_t invented = command_format_newest + 1;

TEST(CommandCodec, AnOlderVersionReadsNoNewerForm) {  // P12
    for (const auto format : {command_format_newest, invented}) {
        const auto batch = encoded(samples(), format);
        EXPECT_EQ(format_of(batch), format);
        for (const auto reads : {command_format_newest, invented}) {
            const auto commands = decode_batch(batch, reads);
            EXPECT_EQ(commands.has_value(), format <= reads);
            EXPECT_TRUE(!commands || *commands == samples());
        }
    }
    EXPECT_FALSE(decode_batch(encoded(samples(), invented)).has_value());
}

// P12: what every version reads is written as the first one wrote it.
TEST(CommandCodec, TheOldestFormIsEnoughForWhatItHas) {
    for (const auto& command : older_samples())
        EXPECT_EQ(format_of(encoded({command})), command_format_oldest);
    for (const auto& command : newer_samples())
        EXPECT_EQ(format_of(encoded({command})), command_format_of_origins);
    EXPECT_EQ(format_of(encoded({Sweep{}, Clock{1}, Sweep{}})), command_format_of_origins);
}

// An older version takes such an entry for an empty one, so every version has to (P5).
TEST(CommandCodec, TheOldestFormHasNoNewerCommand) {  // P12
    for (const auto& command : newer_samples()) {
        auto bytes = std::string{encoded({command}).view()};
        ASSERT_TRUE(decode_batch(Bytes{bytes}));
        bytes[0] = static_cast<char>(command_format_oldest);
        EXPECT_FALSE(decode_batch(Bytes{bytes}));
    }
}

TEST(CommandCodec, AnOriginIsLeftOutForAReaderOfTheOldestForm) {
    auto plain = opening_as(Access::all());
    auto open = plain;
    open.origin = {"db3", "backup", 4711, {}};
    const auto without = in_format_1(encoded({open, Sweep{}}));
    EXPECT_EQ(without, encoded({plain, Sweep{}}));
    EXPECT_EQ(format_of(without), command_format_oldest);
    const auto other = encoded({plain, Clock{5}}, invented);
    EXPECT_EQ(in_format_1(other), other);
}

// It keeps its number, so that the requests behind it proceed.
TEST(CommandCodec, AnEvictionIsDeclinedForAReaderOfTheOldestForm) {  // P12
    const Request evict{SessionId{4}, Seq{7}, EvictSession{SessionId{1}, "stuck", true}};
    const Request release{SessionId{4}, Seq{8}, Release{Seq{2}}};
    const Request declined{SessionId{4}, Seq{7}, Declined{}};
    EXPECT_EQ(in_format_1(encoded({evict, release})), encoded({declined, release}));
}

TEST(CommandCodec, WhatIsTakenOverStaysInItsFormOrALaterOne) {
    const auto theirs = encoded({Sweep{}}, invented);
    BatchBuilder builder;
    builder.add_encoded(commands_of(theirs), 1, format_of(theirs), 1);
    EXPECT_EQ(format_of(builder.take()), invented);
    builder.add(Sweep{});
    EXPECT_EQ(format_of(builder.take()), command_format_oldest);
    builder.add(Sweep{});
    EXPECT_EQ(format_of(builder.take(invented)), invented);
}

// A leader that adds a forwarded batch does not check its head.
TEST(CommandCodec, ABatchMayWeighTheSameWhateverItsHead) {
    const auto full = [](std::size_t bytes, std::uint8_t format) {
        BatchBuilder builder;
        const auto left = [&] { return bytes - builder.bytes(); };
        std::uint64_t seq = 0;
        Acquire several;
        several.which = Acquire::Which::all;
        for (std::size_t i = 0; i < names_at_once_max; ++i)
            several.names.push_back({std::string(name_bytes_max - 1, 'n') + char('0' + i), shared});
        while (left() > (names_at_once_max + 1) * (name_bytes_max + 16))
            builder.add(request(several, ++seq));
        while (left() > 64) {
            const std::string name(std::min(name_bytes_max, left() - 40), 'n');
            builder.add(request(Acquire{{{name, shared}}, true, {}, false, {}}, ++seq));
        }
        while (builder.bytes() < bytes)
            builder.add(Sweep{});
        return builder.take(format);
    };
    for (const auto format : {command_format_newest, invented}) {
        EXPECT_TRUE(decode_batch(full(batch_bytes_max - 1, format), invented).has_value());
        EXPECT_FALSE(decode_batch(full(batch_bytes_max, format), invented).has_value());
    }
}

TEST(CommandCodec, AnEmptyBatchHasNoCommands) {
    const auto commands = decode_batch(encoded({}));
    ASSERT_TRUE(commands.has_value());
    EXPECT_TRUE(commands->empty());
    EXPECT_FALSE(decode_batch(Bytes{}).has_value());
}

TEST(CommandCodec, AnotherVersionIsNotRead) {  // P12
    auto bytes = std::string{encoded(samples()).view()};
    for (const int version : {0, command_format_newest + 1, 255}) {
        bytes[0] = static_cast<char>(version);
        EXPECT_FALSE(decode_batch(Bytes{bytes}).has_value()) << version;
    }
}

TEST(CommandCodec, EveryTruncationIsAnError) {
    for (const auto& command : samples()) {
        const auto bytes = std::string{encoded({command}).view()};
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            EXPECT_FALSE(decode_batch(Bytes{bytes.substr(0, size)}).has_value()) << size;
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
        std::string bytes{static_cast<char>(command_format_newest),
                          static_cast<char>(prng.below(4))};
        if (prng.one_in(2)) bytes += std::string{7, 3, 1};  // a run
        for (auto left = prng.below(24); left > 0; --left) {
            // Small values get further.
            bytes.push_back(static_cast<char>(prng.one_in(3) ? prng.below(256) : prng.below(20)));
        }
        expect_error_or_same(bytes);
    }
}

TEST(CommandCodec, RefusesWhatIsBeyondTheLimits) {
    const auto decodes = [](const Command& command) {
        return decode_batch(encoded({command})).has_value();
    };
    const auto acquire = [](std::string name, std::string label) {
        return request(Acquire{{{std::move(name), shared}}, true, {}, false, std::move(label)});
    };
    EXPECT_FALSE(decodes(acquire("", "")));
    EXPECT_FALSE(decodes(acquire(std::string(name_bytes_max + 1, 'n'), "")));
    EXPECT_FALSE(decodes(acquire("n", std::string(label_bytes_max + 1, 'l'))));
    Acquire several;
    several.which = Acquire::Which::all;
    for (std::size_t i = 0; i < names_at_once_max; ++i)
        several.names.push_back({"n" + std::to_string(100 + i), shared});
    EXPECT_TRUE(decodes(request(several)));
    several.names.push_back({"o", shared});
    EXPECT_FALSE(decodes(request(several)));
    several.names.clear();
    EXPECT_FALSE(decodes(request(several)));
    EXPECT_FALSE(decodes(permits(permits_max + 1, 1)));
    EXPECT_FALSE(decodes(permits(1, semaphore_limit_max + 1)));
    EXPECT_FALSE(decodes(permits(1, 0)));
    EXPECT_FALSE(decodes(request(Resize{"b", semaphore_limit_max + 1, 0})));
    EXPECT_FALSE(decodes(request(Remove{""})));
    EXPECT_FALSE(decodes(request(CountDown{"b", latch_max + 1, 1})));
    EXPECT_FALSE(decodes(request(CountDown{"b", 1, latch_max + 1})));
    EXPECT_FALSE(decodes(request(CountDown{"", 1, 1})));
    EXPECT_FALSE(decodes(request(AwaitLatch{"b", latch_max + 1, {}})));
    EXPECT_FALSE(decodes(request(AwaitLatch{"", 1, {}})));
    EXPECT_FALSE(decodes(request(Arrive{"b", 0})));
    EXPECT_FALSE(decodes(request(Arrive{"b", barrier_parties_max + 1})));
    EXPECT_FALSE(decodes(request(Arrive{"", 1})));
    EXPECT_FALSE(decodes(request(Quit{Seq{1}, ""})));
    const OpenSession open{1, NodeId{2}, {Incarnation{3}, BootEpoch{4}}, 5, 6, false};
    auto wrong = open;
    wrong.ttl_ms = 0;
    EXPECT_FALSE(decodes(wrong));
    wrong.ttl_ms = session_ttl_ms_max + 1;
    EXPECT_FALSE(decodes(wrong));
    wrong = open;
    wrong.rho_ppm = 500'000;
    EXPECT_FALSE(decodes(wrong));
    EXPECT_TRUE(decodes(open));
    EXPECT_FALSE(decodes(Clock{0}));
    EXPECT_FALSE(decodes(Clock{clock_ms_max + 1}));
    EXPECT_FALSE(decodes(RaiseCeiling{}));
    EXPECT_FALSE(decodes(RaiseCeiling{FencingToken{token_ceiling_max + 1}}));
    EXPECT_FALSE(decodes(opening_from({std::string(origin_host_bytes_max + 1, 'h'), {}, 0, {}})));
    EXPECT_FALSE(
        decodes(opening_from({{}, std::string(origin_program_bytes_max + 1, 'p'), 0, {}})));
    EXPECT_FALSE(
        decodes(opening_from({{}, {}, 0, std::string(origin_address_bytes_max + 1, 'a')})));

    const std::vector<Command> full(batch_commands_max, Sweep{});
    EXPECT_TRUE(decode_batch(encoded(full)).has_value());
    auto over = full;
    over.emplace_back(Sweep{});
    EXPECT_FALSE(decode_batch(encoded(over)).has_value());
}

// One name is a list of length one, and is encoded without a count.
TEST(CommandCodec, AnAcquireOfOneNameHasNoCount) {  // P12
    const auto one = [](std::string_view flags) {
        return "\x01\x01\x07\x03\x01\x08" + std::string{flags} + "\x01" + "a\x05";
    };
    const auto listed = [](std::string_view flags, const std::string& count) {
        auto bytes = "\x01\x01\x07\x03\x01\x09" + std::string{flags} + count;
        for (char name = 'a'; name < 'a' + count.front(); ++name)
            bytes += std::string{'\x01', name, '\x05'};
        return decode_batch(Bytes{bytes}).has_value();
    };
    const Request any{SessionId{3}, Seq{1}, Acquire{{{"a", exclusive}}, true, {}, false, {}}};
    auto all = any;
    std::get<Acquire>(all.body).which = Acquire::Which::all;
    EXPECT_EQ(encoded({any}), Bytes{one("\x01")});
    EXPECT_EQ(encoded({all}), Bytes{one("\x81")});
    for (const auto* flags : {"\x01", "\x81"}) {
        EXPECT_TRUE(decode_batch(Bytes{one(flags)}).has_value());
        EXPECT_FALSE(listed(flags, std::string(1, '\0')));
        EXPECT_FALSE(listed(flags, "\x01"));
        EXPECT_TRUE(listed(flags, "\x02"));
    }
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
    const OpenSession open{1, NodeId{2}, {Incarnation{3}, BootEpoch{4}}, 5, 6, false};
    auto nobody = open;
    nobody.nonce = 0;
    EXPECT_FALSE(decodes(nobody));
    nobody = open;
    nobody.node = {};
    EXPECT_FALSE(decodes(nobody));
    nobody = open;
    nobody.generation.incarnation = {};
    EXPECT_FALSE(decodes(nobody));
    nobody = open;
    nobody.generation.boot_epoch = {};
    EXPECT_FALSE(decodes(nobody));
    EXPECT_TRUE(decodes(open));
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
    EXPECT_FALSE(decodes(request(SetValue{{}, "a", {}})));
    EXPECT_FALSE(decodes(request(Cancel{})));
}

TEST(CommandCodec, ACountOfAStrangerSizesNoAllocation) {  // P11
    // A Renew that claims 2^60 renewals.
    std::string bytes{static_cast<char>(command_format_oldest), 1, 2};
    bytes += "\x80\x80\x80\x80\x80\x80\x80\x80\x10";
    EXPECT_FALSE(decode_batch(Bytes{bytes}).has_value());
}

TEST(CommandCodec, APartThatSaysNothingIsRefused) {
    const auto refused = [](char flags, const std::string& options) {
        return !decode_batch(Bytes{std::string{1, 1, 7, 3, 1, 8, flags, 1, 'a', 5} + options})
                    .has_value();
    };
    EXPECT_FALSE(refused(1, {}));
    EXPECT_TRUE(refused(1 | 4, std::string(1, '\0')));   // the default policy
    EXPECT_TRUE(refused(1 | 8, std::string(1, '\0')));   // no label
    EXPECT_TRUE(refused(1 | 16, std::string(1, '\0')));  // no priority
    EXPECT_TRUE(refused(1 | 32, std::string(1, '\0')));  // no locker
    EXPECT_TRUE(refused(1 | 64, std::string(3, '\0')));  // no time limits
    EXPECT_FALSE(refused(1 | 64, std::string{1, 0, 0}));
}

// As a leader combines what nodes have forwarded.
TEST(BatchBuilder, TakesOverWhatOthersEncoded) {
    const auto first = stream(SessionId{7}, Seq{1});
    const auto second = stream(SessionId{7}, Seq{1 + first.size()});
    const auto other = stream(SessionId{8}, Seq{5});
    BatchBuilder builder;
    EXPECT_TRUE(builder.is_empty());
    std::vector<Command> all{Sweep{}};
    builder.add(all.front());
    for (const auto& theirs : {first, other, second}) {
        builder.add_encoded(commands_of(encoded(theirs)), theirs.size(), format_of(encoded(theirs)),
                            theirs.size());
        all.insert(all.end(), theirs.begin(), theirs.end());
    }
    EXPECT_EQ(builder.count(), all.size());
    EXPECT_FALSE(builder.is_empty());
    const auto size = builder.bytes();
    const auto batch = builder.take();
    const auto count_bytes = all.size() < 128 ? 1U : 2U;
    EXPECT_EQ(batch.size(), size + 1 + count_bytes);  // behind the version
    EXPECT_TRUE(builder.is_empty());
    EXPECT_EQ(builder.bytes(), 0U);
    EXPECT_EQ(decode_batch(batch), all);
}

// A request after those of other sessions needs its session and number, although it continues an
// earlier run.
TEST(BatchBuilder, GoesOnBehindWhatOthersEncoded) {
    const Request mine{SessionId{7}, Seq{1}, Declined{}};
    const Request next{SessionId{7}, Seq{2}, Declined{}};
    const auto theirs = stream(SessionId{8}, Seq{5});
    BatchBuilder builder;
    builder.add(mine);
    builder.add_encoded(commands_of(encoded(theirs)), theirs.size(), format_of(encoded(theirs)),
                        theirs.size());
    builder.add(next);
    std::vector<Command> all{mine};
    all.insert(all.end(), theirs.begin(), theirs.end());
    all.emplace_back(next);
    EXPECT_EQ(decode_batch(builder.take()), all);
    builder.add(next);  // and in another batch
    EXPECT_EQ(decode_batch(builder.take()), std::vector<Command>{next});
}

}  // namespace
}  // namespace mortise::core
