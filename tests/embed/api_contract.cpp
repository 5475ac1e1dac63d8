// The public interface, as programs outside this tree are compiled against it. Additions are
// allowed here, changes are not. api_contract_calls.cpp calls everything once.
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <ranges>
#include <span>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

namespace {

using namespace std::chrono_literals;
using namespace mortise;
using std::is_same_v;

template <class T>
constexpr bool is_move_only =
    std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T> &&
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
template <class T>
constexpr bool stays_where_it_is =
    !std::is_move_constructible_v<T> && !std::is_move_assignable_v<T>;

// --- values

static_assert(std::is_aggregate_v<Config>);
static_assert(is_same_v<decltype(Config::timing.session_ttl), Duration>);
static_assert(is_same_v<decltype(Config::timing.clock_rate_bound), double>);
static_assert(is_same_v<decltype(Config::from_file("")), Config>);
static_assert(std::derived_from<ConfigError, std::system_error>);

static_assert(std::convertible_to<std::chrono::hours, Duration>);
static_assert(std::convertible_to<std::chrono::duration<double>, Duration>);
static_assert(Duration{std::chrono::hours::max()} == Duration::max());
static_assert(!Duration::max().is_set());
static_assert(Duration{1500us} == Duration{1500000ns});
static_assert(Duration{} == 0s && 1ms < Duration{2ms});

static_assert(BootClock::is_steady);
static_assert(is_same_v<BootClock::time_point, decltype(BootClock::now())>);
static_assert(noexcept(BootClock::now()));

static_assert(FencingToken{} == FencingToken::from_raw(0));
static_assert(FencingToken::from_raw(1) < FencingToken::from_raw(2));
static_assert(is_same_v<decltype(FencingToken{}.raw()), std::int64_t>);
static_assert(!std::convertible_to<std::int64_t, FencingToken>);
static_assert(!std::convertible_to<FencingToken, std::int64_t>);

// In this order, each with a default; new ones are added at the end.
[[maybe_unused]] const AcquireOptions all_options{
    .mode = LockMode::shared,
    .label = std::string{"label"},
    .wait_max = 1s,
    .max_hold = 1min,
    .min_hold = 1h,
    .progress_timeout = Duration::max(),
    .lock_delay = std::chrono::duration<double>{0.5},
    .priority = 1,
    .queue_policy = std::optional{QueuePolicy::fifo},
    .on_uncertain = OnUncertain::suspend,
    .locker = Locker{},
    .cancel = std::stop_token{},
    .on_at_risk = [](Duration) {},
    .on_suspended = [] {},
    .on_contended = [](LockMode, std::size_t, std::string_view) {},
};
[[maybe_unused]] const Previous previous{
    .how = Predecessor::clean, .label = "l", .token = FencingToken{}};

static_assert(std::copyable<Locker> && std::constructible_from<Locker, Node&, std::string> &&
              !std::convertible_to<Node&, Locker>);

// --- enumerators

using enum LockMode;
static_assert(intent_shared != intent_exclusive && shared != shared_intent_exclusive &&
              update != exclusive);
static_assert(QueuePolicy::phase_fair != QueuePolicy::fifo &&
              QueuePolicy::prefer_readers != QueuePolicy::prefer_writers);
static_assert(HoldState::held != HoldState::at_risk && HoldState::suspended != HoldState::lost &&
              HoldState::lost != HoldState::released);
static_assert(LossReason::none != LossReason::expired && LossReason::broken != LossReason::forked &&
              LossReason::node_stopped != LossReason::none);
static_assert(Predecessor::none != Predecessor::clean &&
              Predecessor::expired != Predecessor::broken);
static_assert(BreakMode::confirmed != BreakMode::immediate);
static_assert(OnUncertain::lose != OnUncertain::suspend);
static_assert(ReadLevel::linearizable != ReadLevel::local);

// --- errors

constexpr Errc codes[]{
    Errc::timed_out,     Errc::cancelled,          Errc::session_expired,  Errc::lock_lost,
    Errc::not_held,      Errc::outcome_unknown,    Errc::no_quorum,        Errc::not_ready,
    Errc::deadlock,      Errc::resource_exhausted, Errc::invalid_argument, Errc::kind_mismatch,
    Errc::stale_request, Errc::node_stopped,       Errc::forked,           Errc::permission_denied,
    Errc::incompatible,
};
static_assert(std::is_error_code_enum_v<Errc>);
static_assert(std::derived_from<LockError, std::system_error>);
static_assert(is_same_v<decltype(std::declval<LockError>().detail()), const ErrorDetail&>);
static_assert(is_same_v<decltype(ErrorDetail::name), std::string>);
static_assert(is_same_v<decltype(ErrorDetail::cycle), std::vector<ErrorDetail::Wait>>);
static_assert(is_same_v<decltype(ErrorDetail::Wait::locker), std::string>);
static_assert(is_same_v<decltype(ErrorDetail::Wait::waits_for), std::string>);
static_assert(is_same_v<decltype(ErrorDetail::holders), std::vector<HolderInfo>>);

// --- objects

static_assert(is_move_only<Hold>);
static_assert(std::is_nothrow_default_constructible_v<Hold>);
static_assert(std::is_nothrow_destructible_v<Hold>);
static_assert(!std::convertible_to<Hold, bool> && std::constructible_from<bool, Hold>);
static_assert(is_move_only<HoldSet> && std::ranges::forward_range<const HoldSet>);
static_assert(is_same_v<std::ranges::range_reference_t<const HoldSet>, const Hold&>);

// An element of a list of names is one text. Two pointers are not taken for its begin and its end.
using Listed = StripedLock::KeyList::value_type;
static_assert(std::convertible_to<const char (&)[4], Listed>);
static_assert(std::convertible_to<const char*, Listed>);
static_assert(std::convertible_to<std::string, Listed>);
static_assert(std::convertible_to<std::string_view, Listed>);
static_assert(!std::is_constructible_v<Listed, const char*, const char*>);
template <class Locks>
concept takes_pairs_of_pointers = requires(Locks locks, const char* text) {
    locks.acquire_all({{text, text}, {text, text}});
};
static_assert(!takes_pairs_of_pointers<Node&> && !takes_pairs_of_pointers<StripedLock&>);
static_assert(std::is_aggregate_v<LockRequest>);
static_assert(is_move_only<Node>);
static_assert(!std::convertible_to<Config, Node> && std::constructible_from<Node, Config>);
static_assert(std::is_nothrow_move_constructible_v<Subscription>);
static_assert(stays_where_it_is<Mutex> && stays_where_it_is<SharedMutex> &&
              stays_where_it_is<RecursiveMutex>);
static_assert(is_move_only<FenceGate>);

template <class T>
T some() noexcept;  // never called
static_assert(noexcept(some<Hold&>().release()) && noexcept(some<Hold&>().unlock()));
static_assert(noexcept(some<const Hold&>().valid()) && noexcept(some<const Hold&>().valid_until()));
static_assert(noexcept(some<const Hold&>().token()) && noexcept(some<const Hold&>().mode()));
static_assert(noexcept(some<const Hold&>().state()) && noexcept(some<const Hold&>().why_lost()));
static_assert(noexcept(some<const Hold&>().lost()) && noexcept(some<const Hold&>().failure()));
static_assert(noexcept(some<const Hold&>().remaining()));
static_assert(is_same_v<decltype(some<Hold&>().release()), std::error_code>);
static_assert(is_same_v<decltype(some<Hold&>().unlock()), void>);
static_assert(noexcept(some<HoldSet&>().release()) && noexcept(some<HoldSet&>().unlock()));
static_assert(is_same_v<decltype(some<HoldSet&>().release()), std::error_code>);
static_assert(is_same_v<decltype(some<Hold&>().try_upgrade()), bool>);
static_assert(is_same_v<decltype(some<Hold&>().upgrade()), void>);
static_assert(is_same_v<decltype(some<const Hold&>().confirm()), void>);
static_assert(
    is_same_v<decltype(some<const Hold&>().confirm(some<std::chrono::steady_clock::time_point>())),
              void>);
static_assert(is_same_v<decltype(some<const Hold&>().confirm(some<std::error_code&>())), void>);
static_assert(
    is_same_v<decltype(some<const Hold&>().confirm(some<std::chrono::steady_clock::time_point>(),
                                                   some<std::error_code&>())),
              void>);
static_assert(is_same_v<decltype(some<Hold&>().downgrade(shared)), void>);
static_assert(is_same_v<decltype(some<const Hold&>().name()), std::string>);
static_assert(is_same_v<decltype(some<const Hold&>().token()), FencingToken>);
static_assert(is_same_v<decltype(some<const Hold&>().valid_until()), BootClock::time_point>);
static_assert(is_same_v<decltype(some<const Hold&>().remaining()), Duration>);
static_assert(is_same_v<decltype(some<const Hold&>().lost()), std::stop_token>);
static_assert(is_same_v<decltype(some<const Hold&>().previous()), Previous>);
static_assert(is_same_v<decltype(some<const Hold&>().failure()), std::error_code>);

// --- named requirements

template <class M>
concept TimedLockable = requires(M& mutex, std::chrono::system_clock::time_point moment) {
    { mutex.lock() } -> std::same_as<void>;
    { mutex.try_lock() } -> std::same_as<bool>;
    { mutex.try_lock_for(1ms) } -> std::same_as<bool>;
    { mutex.try_lock_until(moment) } -> std::same_as<bool>;
    { mutex.try_lock_until(std::chrono::steady_clock::time_point{}) } -> std::same_as<bool>;
    { mutex.unlock() }
    noexcept->std::same_as<void>;
};
template <class M>
concept SharedTimedLockable = requires(M& mutex, std::chrono::system_clock::time_point moment) {
    { mutex.lock_shared() } -> std::same_as<void>;
    { mutex.try_lock_shared() } -> std::same_as<bool>;
    { mutex.try_lock_shared_for(1ms) } -> std::same_as<bool>;
    { mutex.try_lock_shared_until(moment) } -> std::same_as<bool>;
    { mutex.unlock_shared() }
    noexcept->std::same_as<void>;
};
template <class M>
concept Owned = requires(M& mutex) {
    { mutex.hold() } -> std::same_as<const Hold&>;
    { mutex.owned_by_this_thread() } -> std::same_as<bool>;
};
static_assert(TimedLockable<Mutex> && Owned<Mutex>);
static_assert(TimedLockable<SharedMutex> && SharedTimedLockable<SharedMutex> && Owned<SharedMutex>);
static_assert(TimedLockable<RecursiveMutex> && Owned<RecursiveMutex>);
static_assert(std::constructible_from<RecursiveMutex, Node&, std::string, AcquireOptions>);
static_assert(std::constructible_from<Mutex, Node&, const char*>);
static_assert(std::constructible_from<Mutex, Node&, std::string, AcquireOptions>);
static_assert(std::constructible_from<SharedMutex, Node&, std::string_view, AcquireOptions>);
static_assert(std::constructible_from<Semaphore, Node&, const char*, int>);
static_assert(std::copyable<Semaphore>);
static_assert(is_same_v<decltype(std::declval<const Hold&>().slots()), std::span<const Slot>>);
static_assert(is_same_v<decltype(Slot::number), std::uint32_t>);
static_assert(is_same_v<decltype(Slot::token), FencingToken>);
static_assert(is_same_v<decltype(std::declval<Semaphore&>().acquire(1)), Hold>);
static_assert(is_same_v<decltype(std::declval<Semaphore&>().try_acquire()), std::optional<Hold>>);
static_assert(is_same_v<decltype(std::declval<Semaphore&>().limit()), std::uint32_t>);
static_assert(std::constructible_from<Latch, Node&, const char*, int>);
static_assert(std::copyable<Latch>);
static_assert(Latch::max() >= 1'000'000'000);
static_assert(is_same_v<decltype(std::declval<Latch&>().count_down()), void>);
static_assert(is_same_v<decltype(std::declval<const Latch&>().try_wait()), bool>);
static_assert(is_same_v<decltype(std::declval<const Latch&>().wait()), void>);
static_assert(is_same_v<decltype(std::declval<Latch&>().arrive_and_wait(1)), void>);
static_assert(std::constructible_from<Barrier, Node&, const char*, int>);
static_assert(std::copyable<Barrier>);
static_assert(Barrier::max() >= 1'000);
static_assert(is_same_v<decltype(std::declval<Barrier&>().arrive_and_wait()), void>);
static_assert(is_same_v<decltype(std::declval<Barrier&>().arrive_and_drop()), void>);

// --- values that can be checked only at run time

TEST(ApiContract, TokensAreWrittenInDecimal) {
    const auto token = FencingToken::from_raw(9'223'372'036'854'775'807);
    EXPECT_EQ(token.to_string(), "9223372036854775807");
    EXPECT_EQ(to_string(token), token.to_string());
    EXPECT_EQ(FencingToken{}.to_string(), "0");
    std::ostringstream out;
    out << token;
    EXPECT_EQ(out.str(), token.to_string());
    EXPECT_EQ(std::hash<FencingToken>{}(token), std::hash<FencingToken>{}(token));
}

TEST(ApiContract, EveryCodeIsAnErrorOfOneCategory) {
    for (const auto code : codes) {
        const std::error_code ec = code;
        EXPECT_TRUE(ec);
        EXPECT_EQ(ec.category(), error_category());
        EXPECT_FALSE(ec.message().empty());
    }
    EXPECT_EQ(make_error_code(Errc::timed_out), std::errc::timed_out);
    EXPECT_EQ(make_error_code(Errc::deadlock), std::errc::resource_deadlock_would_occur);
    EXPECT_TRUE(is_retryable(Errc::no_quorum));
    EXPECT_TRUE(is_retryable(Errc::session_expired));
    EXPECT_FALSE(is_retryable(Errc::invalid_argument));
}

TEST(ApiContract, EnumeratorsHaveNames) {
    EXPECT_EQ(to_string(LockMode::exclusive), "exclusive");
    EXPECT_EQ(to_string(QueuePolicy::phase_fair), "phase_fair");
    EXPECT_EQ(to_string(HoldState::at_risk), "at_risk");
    EXPECT_EQ(to_string(LossReason::node_stopped), "node_stopped");
    EXPECT_EQ(to_string(Predecessor::clean), "clean");
    EXPECT_EQ(to_string(Errc::lock_lost), "lock_lost");
}

TEST(ApiContract, AnEmptyHoldAnswersEverything) {
    Hold hold;
    EXPECT_FALSE(hold);
    EXPECT_EQ(hold.name(), "");
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
    EXPECT_EQ(hold.token(), FencingToken{});
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.valid_until(), BootClock::time_point{});
    EXPECT_EQ(hold.remaining(), Duration::zero());
    EXPECT_EQ(hold.state(), HoldState::released);
    EXPECT_EQ(hold.why_lost(), LossReason::none);
    EXPECT_FALSE(hold.lost().stop_requested());
    EXPECT_EQ(hold.failure(), Errc::not_held);
    EXPECT_THROW(hold.check(), LockError);
    std::error_code ec;
    hold.check(ec);
    EXPECT_EQ(ec, Errc::not_held);
    hold.checkpoint();
    EXPECT_EQ(hold.previous(), Previous{});
    EXPECT_EQ(hold.value(ec), "");
    EXPECT_EQ(ec, Errc::not_held);
    hold.set_value("x", ec);
    EXPECT_EQ(ec, Errc::not_held);
    hold.consistent(ec);
    EXPECT_EQ(ec, Errc::not_held);
    EXPECT_THROW((void)hold.value(), LockError);
    EXPECT_THROW(hold.set_value("x"), LockError);
    EXPECT_THROW(hold.consistent(), LockError);
    EXPECT_EQ(hold.release(), Errc::not_held);
    hold.unlock();
}

}  // namespace
