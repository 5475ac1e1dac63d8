#include "embed/holds/thread_owners.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

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
    return before(a.mutex, b.mutex);
}

// One per thread: its mark, and the tables that may refer to it.
class ThreadOwners::Caller {
public:
    // Also works when the calling thread has already destroyed its Caller.
    static const ThreadMark* mark() {
        if (!mark_) mark_ = is_gone_ ? last_mark() : instance_.own_mark_.get();
        return mark_;
    }

    // Called before the first entry is made.
    static void remember(const std::shared_ptr<Shared>& table) {
        if (is_gone_) return;
        auto& tables = instance_.tables_;
        const auto is_same = [&](const auto& known) { return known.lock() == table; };
        if (std::any_of(tables.begin(), tables.end(), is_same)) return;
        std::erase_if(tables, [](const auto& known) { return known.expired(); });
        tables.emplace_back(table);
    }

    ~Caller() {
        is_gone_ = true;
        // From now on, locks that other thread-local destructors take are released with their
        // mutex.
        mark_ = nullptr;
        for (const auto& known : tables_) {
            const auto table = known.lock();
            if (table && !table->generation.is_forked()) give_back(*table);
        }
    }

private:
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
    // These two outlive `instance_`, because nothing destroys them.
    static thread_local const ThreadMark* mark_;
    static thread_local bool is_gone_;

    std::unique_ptr<ThreadMark> own_mark_ = std::make_unique<ThreadMark>();
    std::vector<std::weak_ptr<Shared>> tables_;
};

thread_local ThreadOwners::Caller ThreadOwners::Caller::instance_;
thread_local const ThreadMark* ThreadOwners::Caller::mark_ = nullptr;
thread_local bool ThreadOwners::Caller::is_gone_ = false;

ThreadOwners::ThreadOwners() : owned_{std::make_shared<Shared>()} {}

ThreadOwners::~ThreadOwners() = default;

std::error_code ThreadOwners::obstacle(std::string_view name, Recursion recursion) const {
    const auto* thread = Caller::mark();
    return owned_->with([&](const Table& owned) -> std::error_code {
        for (auto entry = owned.lower_bound(View{name, thread, nullptr});
             entry != owned.end() && entry->first.name == name && entry->first.thread == thread;
             ++entry) {
            const bool is_shared =
                recursion == Recursion::yes && entry->second.recursion == Recursion::yes;
            const bool is_lost = entry->second.hold.state() == HoldState::lost;
            if (is_shared == is_lost) return is_lost ? Errc::lock_lost : Errc::deadlock;
        }
        return {};
    });
}

const Hold* ThreadOwners::find(const void* mutex, std::string_view name) const {
    const View key{name, Caller::mark(), mutex};
    return owned_->with([&](const Table& owned) -> const Hold* {
        const auto entry = owned.find(key);
        return entry == owned.end() ? nullptr : &entry->second.hold;
    });
}

void ThreadOwners::add(const void* mutex, std::string_view name, Hold hold, Recursion recursion) {
    Caller::remember(owned_);
    Key key{std::string{name}, Caller::mark(), mutex};
    const LockMode mode = hold.mode();
    owned_->with([&](Table& owned) {
        owned.try_emplace(std::move(key), Owned{std::move(hold), mode, recursion});
    });
}

std::optional<std::error_code> ThreadOwners::deepen(const void* mutex, std::string_view name) {
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

bool ThreadOwners::unlock(const void* mutex, std::string_view name, LockMode mode) {
    const View key{name, Caller::mark(), mutex};
    Table::node_type gone;  // destroyed after the lock of the table is released
    return owned_->with([&](Table& owned) {
        const auto entry = owned.find(key);
        if (entry == owned.end() || entry->second.mode != mode) return false;
        if (--entry->second.depth == 0) gone = owned.extract(entry);
        return true;
    });
}

void ThreadOwners::drop_lost(const void* mutex, std::string_view name) {
    const View key{name, Caller::mark(), mutex};
    // Destroyed at the end of the statement, after the lock of the table is released.
    std::ignore = owned_->with([&](Table& owned) {
        const auto entry = owned.find(key);
        const bool is_lost = entry != owned.end() && entry->second.hold.state() == HoldState::lost;
        return is_lost ? owned.extract(entry) : Table::node_type{};
    });
}

void ThreadOwners::forget(const void* mutex, std::string_view name) {
    Table gone;
    owned_->with([&](Table& owned) {
        auto entry = owned.lower_bound(View{name, nullptr, nullptr});
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
