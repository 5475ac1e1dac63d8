#include "core/locks/table/lock_record.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

// --- the holders --------------------------------------------------------------------------------

const Holder* LockRecord::find(OperationId operation) const {
    const auto all = holders();
    const auto found = std::ranges::find(all, operation, &Holder::operation);
    return found == all.end() ? nullptr : &*found;
}

std::span<Holder> LockRecord::present() {
    const auto all = holders();
    return {const_cast<Holder*>(all.data()), all.size()};
}

Holder& LockRecord::holder(OperationId operation) {
    const auto all = present();
    const auto found = std::ranges::find(all, operation, &Holder::operation);
    MORTISE_CHECK(found != all.end());
    return *found;
}

std::uint32_t LockRecord::held_in(LockMode mode) const {
    if (has_several()) return rare_->held[static_cast<std::size_t>(mode)];
    return is_held() && only_.mode == mode ? 1 : 0;
}

bool LockRecord::admits(LockMode mode, std::uint32_t permits) const {
    if (const auto* its = as<Semaphore>()) return its->has_free(permits);
    if (!has_several()) return !is_held() || compatible(only_.mode, mode);
    return std::ranges::all_of(all_lock_modes, [&](LockMode held) {
        return held_in(held) == 0 || compatible(held, mode);
    });
}

bool LockRecord::has_writer() const {
    if (!has_several()) return is_held() && is_writer(only_.mode);
    return std::ranges::any_of(
        all_lock_modes, [&](LockMode held) { return held_in(held) != 0 && is_writer(held); });
}

bool LockRecord::is_compatible() const {
    if (as<Semaphore>() != nullptr) return has_disjoint_slots();
    return std::ranges::all_of(all_lock_modes, [&](LockMode a) {
        return std::ranges::all_of(all_lock_modes, [&](LockMode b) {
            const bool both = a == b ? held_in(a) > 1 : held_in(a) > 0 && held_in(b) > 0;
            return !both || compatible(a, b);
        });
    });
}

bool LockRecord::has_disjoint_slots() const {
    Semaphore seen{semaphore_limit_max};
    for (const auto& holder : holders()) {
        if (holder.slots().empty() || !seen.are_free(holder.slots())) return false;
        seen.take(holder.slots());
    }
    return seen.taken() == as<Semaphore>()->taken();
}

// --- what few records have ----------------------------------------------------------------------

LockRecord::Rare& LockRecord::rare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
}

const Previous& LockRecord::previous() const {
    static const Previous& nobody = *new Previous;  // exit() must not destroy it
    return rare_ ? rare_->previous : nobody;
}

void LockRecord::set_previous(Previous previous) {
    if (rare_ || previous != Previous{}) rare().previous = std::move(previous);
}

void LockRecord::set_queue(WaitQueue queue) {
    rare().queue = std::make_unique<WaitQueue>(std::move(queue));
}

void LockRecord::become(KindState state) {
    MORTISE_CHECK(holders().empty() && kind() == RecordKind::lock);
    rare().state = std::make_unique<KindState>(std::move(state));
}

bool LockRecord::may_have_holders() const {
    if (state() == nullptr) return true;
    return std::visit([](const auto& one) { return one.has_holders; }, *state());
}

bool LockRecord::stays() const {
    if (state() == nullptr) return false;
    return std::visit([](const auto& one) { return one.stays(); }, *state());
}

// The only holder that is left becomes a part of the record again.
void LockRecord::tidy() {
    if (!rare_ || rare_->holders.size() != 1) return;
    only_ = std::move(rare_->holders.front());
    rare_->holders.clear();
    rare_->holders.shrink_to_fit();
    rare_->held = {};
}

// Nearly always the newest token is that of the only holder. What changes this holder ends with it.
void LockRecord::set_newest(FencingToken token) {
    if (!is_held()) only_.token = token;
    const bool is_only = token == only_.newest_token();
    if (rare_ || !is_only) rare().newest_token = is_only ? FencingToken{} : token;
}

// --- changes ------------------------------------------------------------------------------------

void LockRecord::add(Holder holder) {
    if (auto* its = as<Semaphore>()) its->take(holder.slots());
    const auto newest = newest_token();
    if (holders().empty()) {
        only_ = std::move(holder);
        return set_newest(newest);
    }
    auto& several = rare();
    if (several.holders.empty()) {
        several.holders.reserve(2);  // before the only holder moves: it stays if there is no memory
        ++several.held[static_cast<std::size_t>(only_.mode)];
        several.holders.push_back(std::exchange(only_, {}));
    }
    ++several.held[static_cast<std::size_t>(holder.mode)];
    several.holders.push_back(std::move(holder));
    set_newest(newest);
}

// Returns false if the hold still blocks the name.
bool LockRecord::leaves(Holder& holder, Predecessor how, const Keeps& keeps, bool is_used_on) {
    if (holder.broken) how = Predecessor::broken;
    if (keeps(holder, how)) {
        holder.left = how;
        return false;
    }
    if (has_several()) --rare_->held[static_cast<std::size_t>(holder.mode)];
    if (auto* its = as<Semaphore>()) its->give_back(holder.slots());
    if (is_used_on) set_previous({how, holder.label(), holder.token});
    return true;
}

void LockRecord::erase(const Holder& holder) {
    const auto newest = newest_token();
    if (has_several()) {
        rare_->holders.erase(rare_->holders.begin() + (&holder - rare_->holders.data()));
        tidy();
    } else {
        only_ = {};
    }
    set_newest(newest);
}

bool LockRecord::remove(OperationId operation, Predecessor how, const Keeps& keeps,
                        bool is_used_on) {
    const auto all = present();
    const auto found = std::ranges::find(all, operation, &Holder::operation);
    if (found == all.end() || found->has_left()) return false;
    if (leaves(*found, how, keeps, is_used_on)) erase(*found);
    return true;
}

void LockRecord::remove_left(OperationId operation) {
    auto& former = holder(operation);
    MORTISE_CHECK(former.has_left());
    (void)leaves(former, former.left, [](const Holder&, Predecessor) { return false; });
    erase(former);
}

void LockRecord::convert(OperationId operation, LockMode mode, FencingToken token) {
    const auto newest = newest_token();
    auto& converted = holder(operation);
    if (has_several()) {
        --rare_->held[static_cast<std::size_t>(converted.mode)];
        ++rare_->held[static_cast<std::size_t>(mode)];
    }
    converted.mode = mode;
    converted.token = token;
    converted.cached_tokens = 0;
    set_newest(newest);
}

void LockRecord::publish(OperationId operation, FencingToken token, LockerTag locker,
                         std::string label) {
    const auto newest = newest_token();
    auto& published = holder(operation);
    published.token = token;
    published.set_owner(std::move(locker), std::move(label));
    published.cached_tokens = 0;
    set_newest(newest);
}

void LockRecord::mark_broken(OperationId operation) {
    holder(operation).broken = true;
}

void LockRecord::set_label_if_none(OperationId operation, const std::string& label) {
    holder(operation).set_label_if_none(label);
}

void LockRecord::remove_if(const Left& left, const Keeps& keeps) {
    const auto newest = newest_token();
    const auto all = present();
    std::size_t stay = 0;
    for (auto& one : all) {
        const auto* departure = one.has_left() ? nullptr : left(one.operation);
        if (departure != nullptr) {
            one.set_label_if_none(departure->label);
            if (leaves(one, departure->how, keeps)) continue;
        }
        auto& place = all[stay++];
        if (&place != &one) place = std::move(one);
    }
    if (has_several()) {
        rare_->holders.erase(rare_->holders.begin() + static_cast<std::ptrdiff_t>(stay),
                             rare_->holders.end());
        tidy();
    } else if (stay < all.size()) {
        only_ = {};
    }
    set_newest(newest);
}

// A grant may share the holders' token only while it is the newest of the name and was taken in the
// same mode. Otherwise a reader could get a token smaller than that of an update holder that came
// in between (P1).
FencingToken LockRecord::take_token(LockMode mode, FencingToken& newest_of_cluster) {
    const auto newest = newest_token();
    const bool joins = !is_writer(mode) && newest_mode_ == mode &&
                       std::ranges::any_of(holders(), [&](const Holder& holder) {
                           return holder.mode == mode && holder.token == newest && holder.is_held();
                       });
    if (joins) return newest;
    const auto token = newest_of_cluster.next();
    newest_of_cluster = std::max(newest_of_cluster, token);
    newest_mode_ = mode;
    set_newest(token);
    return token;
}

void LockRecord::reserve_tokens(std::uint32_t more, FencingToken& newest_of_cluster) {
    const FencingToken newest{newest_token().raw() + more};
    newest_of_cluster = std::max(newest_of_cluster, newest);
    set_newest(newest);
}

}  // namespace mortise::core
