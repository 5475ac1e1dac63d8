#include "embed/holds/thread_owners.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "embed/holds/grant_cache.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/holds/locker_state.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

template <class Left, class Right>
bool ThreadOwners::Order::operator()(const Left& left, const Right& right) const {
    const View a = view(left);
    const View b = view(right);
    if (const int order = a.name.compare(b.name); order != 0) return order < 0;
    const std::less<const void*> before;
    if (a.thread != b.thread) return before(a.thread, b.thread);
    return a.mutex < b.mutex;
}

MutexNumber next_mutex_number() {
    static std::atomic<std::uint64_t> newest{0};
    return MutexNumber{++newest};
}

// One per thread: its mark, the tables that may refer to it, and the entries of what it unlocked
// last.
class ThreadOwners::Caller {
public:
    using Entry = Table::value_type;

    // Also works when the calling thread has already destroyed its Caller.
    static const ThreadMark* mark() {
        if (!mark_) mark_ = is_gone_ ? last_mark() : instance_.own_mark_.get();
        return mark_;
    }

    // Called before the first entry is made.
    static void remember(const std::shared_ptr<Shared>& table) {
        if (is_gone_) return;
        auto& tables = instance_.tables_;
        const auto is_same = [&](const auto& known) {
            return !known.owner_before(table) && !table.owner_before(known);
        };
        if (std::any_of(tables.begin(), tables.end(), is_same)) return;
        std::erase_if(tables, [](const auto& known) { return known.expired(); });
        tables.emplace_back(table);
    }

    // The others that may have entries of the caller, and still exist.
    static std::vector<std::shared_ptr<Shared>> tables_but(const std::shared_ptr<Shared>& own) {
        std::vector<std::shared_ptr<Shared>> others;
        if (is_gone_) return others;
        for (const auto& known : instance_.tables_) {
            auto table = known.lock();
            if (table && table != own) others.push_back(std::move(table));
        }
        return others;
    }

    // The entry that the caller parked for that mutex; null if there is none.
    static Entry* parked(MutexNumber mutex) {
        const auto& spot = spot_of(mutex);
        return spot.mutex == mutex ? spot.entry : nullptr;
    }

    // Keeps the entry, instead of another one, whose mutex is not used so often. False if there is
    // no memory, or the thread ends.
    static bool park(const std::shared_ptr<Shared>& table, Entry& entry) noexcept {
        const auto mutex = entry.first.mutex;
        auto& spot = spot_of(mutex);
        if (spot.entry == &entry && spot.mutex == mutex) return true;
        if (is_gone_) return false;
        auto& where = instance_.parked_in_.at(place_of(mutex));
        try {
            std::string name{entry.first.name};
            unpark(spot.mutex, where);
            where = {std::move(name), table};
        } catch (const std::bad_alloc&) {
            return false;
        }
        spot = {mutex, &entry};
        return true;
    }

    // Called before the entry of that mutex is erased.
    static void erased(MutexNumber mutex) {
        if (auto& spot = spot_of(mutex); spot.mutex == mutex) spot = {};
    }

    ~Caller() {
        is_gone_ = true;
        spots_ = {};
        // From now on, locks that other thread-local destructors take are released with their
        // mutex.
        mark_ = nullptr;
        for (const auto& known : tables_) {
            const auto table = known.lock();
            if (table && !table->generation.is_forked()) give_back(*table);
        }
    }

private:
    static constexpr std::size_t parked_max = 4;
    struct Spot {
        MutexNumber mutex{};
        Entry* entry = nullptr;
    };
    struct Where {
        std::string name;
        std::weak_ptr<Shared> table;
    };

    static std::size_t place_of(MutexNumber mutex) {
        return static_cast<std::uint64_t>(mutex) % parked_max;
    }
    static Spot& spot_of(MutexNumber mutex) { return spots_.at(place_of(mutex)); }

    // The entry of that mutex may be gone with the mutex.
    static void unpark(MutexNumber mutex, const Where& where) {
        const auto table = where.table.lock();
        if (!table || table->generation.is_forked()) return;
        // Destroyed at the end of the statement, after the lock of the table is released.
        std::ignore = table->with([&](Table& owned) {
            const auto entry = owned.find(View{where.name, mark(), mutex});
            const bool is_unused = entry != owned.end() && entry->second.depth == 0;
            return is_unused ? owned.extract(entry) : Table::node_type{};
        });
    }

    // For a thread without a Caller. It is a byte that is never freed, so no other thread gets its
    // address.
    static const ThreadMark* last_mark() {
        static auto& marks = *new Guarded<std::deque<ThreadMark>>;
        return marks.with([](auto& all) { return &all.emplace_back(); });
    }

    void give_back(Shared& table) {
        Table gone;
        table.with([&](Table& owned) {
            for (auto entry = owned.begin(); entry != owned.end();) {
                const auto here = entry++;
                if (here->first.thread == own_mark_.get()) gone.insert(owned.extract(here));
            }
        });
        table.lockers.with([&](auto& all) { all.erase(own_mark_.get()); });
    }

    static thread_local Caller instance_;
    // These outlive `instance_`, because nothing destroys them.
    static thread_local const ThreadMark* mark_;
    static thread_local bool is_gone_;
    static thread_local std::array<Spot, parked_max> spots_;

    std::unique_ptr<ThreadMark> own_mark_ = std::make_unique<ThreadMark>();
    std::vector<std::weak_ptr<Shared>> tables_;
    std::array<Where, parked_max> parked_in_;
};

thread_local ThreadOwners::Caller ThreadOwners::Caller::instance_;
thread_local const ThreadMark* ThreadOwners::Caller::mark_ = nullptr;
thread_local bool ThreadOwners::Caller::is_gone_ = false;
constinit thread_local std::array<ThreadOwners::Caller::Spot, ThreadOwners::Caller::parked_max>
    ThreadOwners::Caller::spots_{};

ThreadOwners::ThreadOwners() : owned_{std::make_shared<Shared>()} {}

ThreadOwners::~ThreadOwners() = default;

std::error_code ThreadOwners::obstacle(std::string_view name, Recursion recursion) const {
    const auto* thread = Caller::mark();
    return owned_->with([&](const Table& owned) -> std::error_code {
        for (auto entry = owned.lower_bound(View{name, thread, {}});
             entry != owned.end() && entry->first.name == name && entry->first.thread == thread;
             ++entry) {
            if (entry->second.depth == 0) continue;
            const bool is_shared =
                recursion == Recursion::yes && entry->second.recursion == Recursion::yes;
            const bool is_lost = entry->second.hold.state() == HoldState::lost;
            if (is_shared == is_lost) return is_lost ? Errc::lock_lost : Errc::deadlock;
        }
        return {};
    });
}

std::vector<std::shared_ptr<NodeRuntime>> ThreadOwners::others_with(std::string_view name,
                                                                    LockMode mode) const {
    const auto* thread = Caller::mark();
    const auto has_it = [&](const Table& owned) {
        for (auto entry = owned.lower_bound(View{name, thread, {}});
             entry != owned.end() && entry->first.name == name && entry->first.thread == thread;
             ++entry) {
            const auto& owner = entry->second;
            const bool both_read = mode == LockMode::shared && owner.mode == LockMode::shared;
            if (owner.depth != 0 && !both_read && owner.hold.state() != HoldState::lost)
                return true;
        }
        return false;
    };
    std::vector<std::shared_ptr<NodeRuntime>> nodes;
    for (const auto& table : Caller::tables_but(owned_)) {
        if (table->generation.is_forked() || !table->with(has_it)) continue;
        if (auto node = table->node.with([](const auto& known) { return known.lock(); }))
            nodes.push_back(std::move(node));
    }
    return nodes;
}

void ThreadOwners::belong_to(const std::shared_ptr<NodeRuntime>& node) {
    owned_->node.with([&](auto& known) { known = node; });
}

const Hold* ThreadOwners::find(MutexNumber mutex, std::string_view name) const {
    const View key{name, Caller::mark(), mutex};
    return owned_->with([&](const Table& owned) -> const Hold* {
        const auto entry = owned.find(key);
        const bool is_held = entry != owned.end() && entry->second.depth != 0;
        return is_held ? &entry->second.hold : nullptr;
    });
}

void ThreadOwners::add(MutexNumber mutex, std::string_view name, Hold hold, Recursion recursion) {
    Caller::remember(owned_);
    Key key{std::string{name}, Caller::mark(), mutex};
    Owned fresh{std::move(hold), {}, recursion};
    fresh.mode = fresh.hold.mode();
    owned_->with([&](Table& owned) {
        const auto parked = owned.find(key);
        if (parked == owned.end()) {
            owned.emplace(std::move(key), std::move(fresh));
        } else {
            std::swap(parked->second, fresh);  // the former hold is destroyed without the lock
        }
    });
}

std::optional<std::error_code> ThreadOwners::deepen(MutexNumber mutex, std::string_view name) {
    const View key{name, Caller::mark(), mutex};
    return owned_->with([&](Table& owned) -> std::optional<std::error_code> {
        const auto entry = owned.find(key);
        if (entry == owned.end()) return std::nullopt;
        if (entry->second.hold.state() == HoldState::lost) return Errc::lock_lost;
        if (entry->second.depth >= LockerState::nesting_max) return Errc::resource_exhausted;
        ++entry->second.depth;
        return std::error_code{};
    });
}

bool ThreadOwners::unlock(MutexNumber mutex, std::string_view name, LockMode mode) {
    const View key{name, Caller::mark(), mutex};
    auto* const entry = owned_->with([&](Table& owned) -> Caller::Entry* {
        const auto found = owned.find(key);
        const bool is_held = found != owned.end() && found->second.depth != 0;
        return is_held && found->second.mode == mode ? &*found : nullptr;
    });
    if (entry == nullptr) return false;
    auto& owner = entry->second;
    if (--owner.depth != 0) return true;
    // A node may have several shared grants of a name: a reader has to look at the table, which
    // knows whether the thread reads already.
    const bool is_cached = owner.recursion == Recursion::no && mode == LockMode::exclusive &&
                           HoldRecord::of(owner.hold)->as_use() != nullptr;
    if (is_cached && Caller::park(owned_, *entry)) {
        owner.hold.unlock();
        return true;
    }
    Caller::erased(mutex);
    // Destroyed at the end of the statement, after the lock of the table is released.
    std::ignore = owned_->with([&](Table& owned) { return owned.extract(owned.find(key)); });
    return true;
}

bool ThreadOwners::lock_again(MutexNumber mutex, LockMode mode) {
    auto* const entry = Caller::parked(mutex);
    if (entry == nullptr || entry->second.depth != 0 || entry->second.mode != mode) return false;
    const auto& use = HoldRecord::of(entry->second.hold);
    if (mode != LockMode::exclusive || use->as_use() == nullptr) return false;
    if (!use->cache()->take_again(*use)) return false;
    entry->second.depth = 1;
    return true;
}

bool ThreadOwners::unlock_again(MutexNumber mutex, LockMode mode) {
    auto* const entry = Caller::parked(mutex);
    if (entry == nullptr || entry->second.depth != 1 || entry->second.mode != mode) return false;
    if (HoldRecord::of(entry->second.hold)->as_use() == nullptr) return false;
    entry->second.depth = 0;
    entry->second.hold.unlock();
    return true;
}

void ThreadOwners::drop_lost(MutexNumber mutex, std::string_view name) {
    const View key{name, Caller::mark(), mutex};
    // Destroyed at the end of the statement, after the lock of the table is released.
    std::ignore = owned_->with([&](Table& owned) {
        const auto entry = owned.find(key);
        const bool is_lost = entry != owned.end() && entry->second.depth != 0 &&
                             entry->second.hold.state() == HoldState::lost;
        if (!is_lost) return Table::node_type{};
        Caller::erased(mutex);
        return owned.extract(entry);
    });
}

void ThreadOwners::forget(MutexNumber mutex, std::string_view name) {
    Table gone;
    owned_->with([&](Table& owned) {
        auto entry = owned.lower_bound(View{name, nullptr, {}});
        while (entry != owned.end() && entry->first.name == name) {
            const auto here = entry++;
            if (here->first.mutex == mutex) gone.insert(owned.extract(here));
        }
    });
}

Locker ThreadOwners::locker(const std::function<Locker()>& make) {
    Caller::remember(owned_);
    const auto* thread = Caller::mark();
    auto& lockers = owned_->lockers;
    auto known = lockers.with([&](auto& all) {
        const auto found = all.find(thread);
        return found == all.end() ? Locker{} : found->second;
    });
    if (known != Locker{}) return known;
    auto made = make();  // no other thread makes a locker for this thread
    lockers.with([&](auto& all) { all.emplace(thread, made); });
    return made;
}

}  // namespace mortise::detail
