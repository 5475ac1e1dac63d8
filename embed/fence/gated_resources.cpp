#include "embed/fence/gated_resources.hpp"

#include <map>
#include <memory>
#include <system_error>
#include <tuple>

#include "embed/threads/fork_generation.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

// The wait graph of all gates of this process. An effect may use several gates, so a wait cycle may
// go through several. Only threads that have to wait use it.
class Waits {
public:
    static Waits& of_this_process();

    // False if the wait would never end.
    bool add(GatedResource& wanted);
    void remove() noexcept;

private:
    const ForkGeneration generation_;
    std::mutex mutex_;
    std::map<std::thread::id, GatedResource*> waits_;
    std::unique_ptr<Waits> of_parent_;  // no thread of this process can have locked it
};

// A thread that does not exist in the child may have locked the object of the parent.
Waits& Waits::of_this_process() {
    static std::atomic<Waits*> present{nullptr};
    auto* known = present.load();
    while (known == nullptr || known->generation_.is_forked()) {
        auto fresh = std::make_unique<Waits>();
        fresh->of_parent_.reset(known);
        if (present.compare_exchange_strong(known, fresh.get())) return *fresh.release();
        std::ignore = fresh->of_parent_.release();  // another thread was faster
    }
    return *known;
}

// A resource with waiters stays, and so does its admitted thread while they wait. So a cycle that
// is found under the mutex exists, and the thread that completes it finds it.
bool Waits::add(GatedResource& wanted) {
    const auto self = std::this_thread::get_id();
    const std::scoped_lock lock{mutex_};
    const auto* next = &wanted;
    while (true) {
        const auto who = next->admitted.load();
        if (who == self) return false;
        const auto waits = waits_.find(who);
        if (waits == waits_.end()) break;
        next = waits->second;
    }
    waits_.emplace(self, &wanted);
    return true;
}

void Waits::remove() noexcept {
    const std::scoped_lock lock{mutex_};
    waits_.erase(std::this_thread::get_id());
}

[[noreturn]] void fail_with_wait_cycle() {
    throw std::system_error{make_error_code(Errc::deadlock),
                            "a FenceGate's effect would wait for itself"};
}

void admit_to(GatedResource& resource) {
    const auto self = std::this_thread::get_id();
    if (resource.admitted.load() == self) fail_with_wait_cycle();
    if (!resource.admitting.try_lock()) {
        auto& waits = Waits::of_this_process();
        if (!waits.add(resource)) fail_with_wait_cycle();
        resource.admitting.lock();
        waits.remove();  // before it is recorded as admitted: no thread waits for itself
    }
    resource.admitted = self;
}

}  // namespace

GatedResource& GatedResources::enter(const std::string& key) {
    std::unique_lock table{mutex_};
    auto& resource = resources_[key];
    ++resource.users;
    table.unlock();
    try {
        admit_to(resource);
    } catch (...) {
        give_up(key, resource);
        throw;
    }
    return resource;
}

void GatedResources::leave(const std::string& key, GatedResource& resource) noexcept {
    resource.admitted = std::thread::id{};
    resource.admitting.unlock();
    give_up(key, resource);
}

void GatedResources::give_up(const std::string& key, GatedResource& resource) noexcept {
    const std::scoped_lock table{mutex_};
    if (--resource.users == 0) resources_.erase(key);
}

}  // namespace mortise::detail
