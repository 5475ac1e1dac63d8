#include "core/locks/table/lock_record.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

const Grant* LockRecord::find(OperationId operation) const {
    const auto found = std::ranges::find(holders_, operation, &Grant::operation);
    return found == holders_.end() ? nullptr : &*found;
}

bool LockRecord::admits(LockMode mode) const {
    return std::ranges::all_of(all_lock_modes, [&](LockMode held) {
        return held_[static_cast<std::size_t>(held)] == 0 || compatible(held, mode);
    });
}

bool LockRecord::has_writer() const {
    return std::ranges::any_of(all_lock_modes, [&](LockMode held) {
        return held_[static_cast<std::size_t>(held)] != 0 && is_writer(held);
    });
}

bool LockRecord::is_compatible() const {
    const auto count = [&](LockMode mode) { return held_[static_cast<std::size_t>(mode)]; };
    return std::ranges::all_of(all_lock_modes, [&](LockMode a) {
        return std::ranges::all_of(all_lock_modes, [&](LockMode b) {
            const bool both = a == b ? count(a) > 1 : count(a) > 0 && count(b) > 0;
            return !both || compatible(a, b);
        });
    });
}

void LockRecord::add(Grant grant) {
    ++held_[static_cast<std::size_t>(grant.mode)];
    holders_.push_back(std::move(grant));
}

LockRecord::Place LockRecord::place_of(OperationId operation) {
    const auto found = std::ranges::find(holders_, operation, &Grant::operation);
    MORTISE_CHECK(found != holders_.end());
    return found;
}

// Returns false if the hold still blocks the name.
bool LockRecord::leaves(Grant& grant, Predecessor how, const Keeps& keeps) {
    if (grant.broken) how = Predecessor::broken;
    if (keeps(grant, how)) {
        grant.left = how;
        return false;
    }
    --held_[static_cast<std::size_t>(grant.mode)];
    previous = {how, std::move(grant.label), grant.token};
    return true;
}

bool LockRecord::remove(OperationId operation, Predecessor how, const Keeps& keeps) {
    const auto found = std::ranges::find(holders_, operation, &Grant::operation);
    if (found == holders_.end() || found->left) return false;
    if (leaves(*found, how, keeps)) holders_.erase(found);
    return true;
}

void LockRecord::remove_left(OperationId operation) {
    const auto found = place_of(operation);
    MORTISE_CHECK(found->left);
    (void)leaves(*found, *found->left, [](const Grant&, Predecessor) { return false; });
    holders_.erase(found);
}

void LockRecord::convert(OperationId operation, LockMode mode, FencingToken token) {
    const auto found = place_of(operation);
    --held_[static_cast<std::size_t>(found->mode)];
    ++held_[static_cast<std::size_t>(mode)];
    found->mode = mode;
    found->token = token;
    found->cached_tokens = 0;
}

void LockRecord::publish(OperationId operation, FencingToken token, LockerTag locker,
                         std::string label) {
    const auto found = place_of(operation);
    found->token = token;
    found->locker = std::move(locker);
    found->label = std::move(label);
    found->cached_tokens = 0;
}

void LockRecord::mark_broken(OperationId operation) {
    place_of(operation)->broken = true;
}

void LockRecord::remove_if(const Left& left, const Keeps& keeps) {
    auto stays = holders_.begin();
    for (auto& grant : holders_) {
        const auto how = grant.left ? std::nullopt : left(grant.operation);
        if (how && leaves(grant, *how, keeps)) continue;
        if (&*stays != &grant) *stays = std::move(grant);
        ++stays;
    }
    holders_.erase(stays, holders_.end());
}

// A grant may share the holders' token only while it is the newest of the name and was taken in the
// same mode. Otherwise a reader could get a token smaller than that of an update holder that came
// in between (P1).
FencingToken LockRecord::take_token(LockMode mode, FencingToken& newest_of_cluster) {
    const bool joins =
        !is_writer(mode) && newest_mode_ == mode &&
        std::ranges::any_of(holders_, [&](const Grant& grant) {
            return grant.mode == mode && grant.token == newest_token_ && grant.is_held();
        });
    if (!joins) {
        newest_token_ = newest_of_cluster.next();
        newest_of_cluster = std::max(newest_of_cluster, newest_token_);
        newest_mode_ = mode;
    }
    return newest_token_;
}

void LockRecord::reserve_tokens(std::uint32_t more, FencingToken& newest_of_cluster) {
    newest_token_ = FencingToken{newest_token_.raw() + more};
    newest_of_cluster = std::max(newest_of_cluster, newest_token_);
}

}  // namespace mortise::core
