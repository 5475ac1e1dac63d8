#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "embed/fork_generation.hpp"
#include "storage/mark_store.hpp"
#include <mortise/errc.hpp>
#include <mortise/fence_gate.hpp>

namespace mortise {

namespace {

constexpr std::size_t resource_bytes_max = 4096;

[[noreturn]] void fail(const core::Error& error) {
    throw std::system_error{error.code, error.what};
}

// The marks of a resource and of its slots never meet.
std::string mark_key(std::string_view resource, const std::uint32_t* slot) {
    core::ByteWriter key;
    key.u8(slot != nullptr ? 1 : 0);
    if (slot != nullptr) key.u32(*slot);
    return key.take() + std::string{resource};
}

// What somebody is being admitted to, or waits for.
struct Entry {
    std::mutex admitting;
    std::optional<std::int64_t> mark;  // guarded by `admitting`; empty: not known yet
    int users = 0;                     // guarded by the table's mutex, like what follows
    std::thread::id admitted;
};

// Those entries, and no others: a resource nobody is at costs no memory.
class Entries {
public:
    // Errc::deadlock for the effect of the very resource.
    Entry& enter(const std::string& key) {
        std::unique_lock table{mutex_};
        auto& entry = entries_[key];
        if (entry.admitted == std::this_thread::get_id())
            throw std::system_error{make_error_code(Errc::deadlock),
                                    "a FenceGate's effect asks for its own resource"};
        ++entry.users;
        table.unlock();
        entry.admitting.lock();
        table.lock();
        entry.admitted = std::this_thread::get_id();
        return entry;
    }

    void leave(const std::string& key, Entry& entry) {
        const std::lock_guard table{mutex_};
        entry.admitted = {};
        entry.admitting.unlock();
        if (--entry.users == 0) entries_.erase(key);
    }

private:
    std::mutex mutex_;
    std::unordered_map<std::string, Entry> entries_;  // their places do not change
};

class Visit {
public:
    Visit(Entries& entries, const std::string& key)
        : entries_{entries}, key_{key}, entry_{entries.enter(key)} {}
    ~Visit() { entries_.leave(key_, entry_); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    [[nodiscard]] std::optional<std::int64_t>& mark() const { return entry_.mark; }

private:
    Entries& entries_;
    const std::string& key_;
    Entry& entry_;
};

}  // namespace

class FenceGate::Impl {
public:
    explicit Impl(std::unique_ptr<storage::MarkStore> marks) : marks_{std::move(marks)} {}

    [[nodiscard]] bool is_forked() const { return generation_.is_forked(); }

    bool admit(const std::string& key, std::int64_t token, const void* body, Call call) {
        const Visit visit{entries_, key};
        if (token < known(key, visit.mark())) return false;
        if (token > *visit.mark()) raise(key, token, visit.mark());
        call(body);
        return true;
    }

private:
    std::int64_t known(const std::string& key, std::optional<std::int64_t>& mark) {
        if (mark) return *mark;
        auto stored = marks_->mark(key);
        if (!stored) fail(stored.error());
        return mark.emplace(stored->value_or(0));
    }

    // After an error the mark is whatever the disk has, and no one is admitted any more.
    void raise(const std::string& key, std::int64_t token, std::optional<std::int64_t>& mark) {
        mark.reset();
        if (auto raised = marks_->raise(key, token); !raised) fail(raised.error());
        mark = token;
    }

    detail::ForkGeneration generation_;
    std::unique_ptr<storage::MarkStore> marks_;
    Entries entries_;
};

FenceGate FenceGate::open(const std::filesystem::path& directory) {
    auto marks = storage::MarkStore::open(directory);
    if (!marks) fail(marks.error());
    return FenceGate{std::make_unique<Impl>(*std::move(marks))};
}

FenceGate::FenceGate(std::unique_ptr<Impl> impl) noexcept : impl_{std::move(impl)} {}
FenceGate::FenceGate(FenceGate&& other) noexcept = default;

FenceGate& FenceGate::operator=(FenceGate&& other) noexcept {
    FenceGate former{std::move(*this)};
    impl_ = std::move(other.impl_);
    return *this;
}

// In the child of a fork the database's threads are not there to be waited for.
FenceGate::~FenceGate() {
    if (impl_ && impl_->is_forked()) static_cast<void>(impl_.release());
}

bool FenceGate::check(std::string_view resource, FencingToken token) {
    return admit(resource, token, [] {});
}

bool FenceGate::check(std::string_view resource, std::uint32_t slot, FencingToken token) {
    return admit(resource, slot, token, [] {});
}

bool FenceGate::run(std::string_view resource, const std::uint32_t* slot, FencingToken token,
                    const void* body, Call call) {
    if (!impl_ || resource.empty() || resource.size() > resource_bytes_max)
        throw std::system_error{
            make_error_code(Errc::invalid_argument),
            impl_ ? "a FenceGate's resource has 1-4,096 bytes" : "a FenceGate that was moved from"};
    if (impl_->is_forked()) throw std::system_error{make_error_code(Errc::forked), "a FenceGate"};
    if (token.raw() <= 0) return false;
    return impl_->admit(mark_key(resource, slot), token.raw(), body, call);
}

}  // namespace mortise
