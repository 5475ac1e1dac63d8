#include "core/locks/table/holder.hpp"

namespace mortise::core {

Holder::Holder(Grant grant)
    : operation{grant.operation},
      token{grant.token},
      since{grant.since},
      cached_tokens{grant.cached_tokens & 0x1FF'FFFFU},
      mode{grant.mode},
      broken{grant.broken},
      left{grant.left.value_or(Predecessor::none)} {
    const bool has_more = !grant.label.empty() || grant.locker != LockerTag{} ||
                          grant.terms.is_set() || !grant.slots.empty();
    if (!has_more) return;
    More its{std::move(grant.label), std::move(grant.locker), grant.terms, grant.closures, {}};
    if (!grant.slots.empty()) its.slots = std::make_unique<const Slots>(std::move(grant.slots));
    set(std::move(its));
}

Grant Holder::as_grant() const {
    const auto ended = has_left() ? std::optional{Predecessor{left}} : std::nullopt;
    return {operation, mode,    token,      since, label(),       locker(),
            broken,    terms(), closures(), ended, cached_tokens, slots()};
}

void Holder::set_owner(LockerTag locker, std::string label) {
    set({std::move(label), std::move(locker), terms(), closures(), nullptr});
}

void Holder::set_label_if_none(const std::string& label) {
    if (label.empty() || !more().label.empty()) return;
    if (!more_) more_ = std::make_unique<More>();
    more_->label = label;
}

const Slots& Holder::slots() const {
    static const Slots& none = *new Slots;  // exit() must not destroy it
    return more().slots ? *more().slots : none;
}

const Holder::More& Holder::more() const {
    static const More& none = *new More;  // exit() must not destroy it
    return more_ ? *more_ : none;
}

void Holder::set(More more) {
    more_ = more == More{} ? nullptr : std::make_unique<More>(std::move(more));
}

}  // namespace mortise::core
