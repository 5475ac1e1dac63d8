#include "embed/api/leader_view.hpp"

namespace mortise::detail {

std::optional<Leader> leader_of(const HolderInfo& holder, std::string_view bytes) {
    const auto mark = published(holder.token, {});
    if (holder.mode != LockMode::exclusive || !bytes.starts_with(mark)) return std::nullopt;
    return Leader{holder.node, std::string{bytes.substr(mark.size())}, holder.token};
}

std::optional<LeaderView::Told> LeaderView::take(const Event& event) {
    on(event);
    if (!is_complete_) return std::nullopt;
    const auto leader = holder_ ? leader_of(*holder_, bytes_) : std::nullopt;
    if (told_ && *told_ == leader) return std::nullopt;
    told_.emplace(leader);
    return told_;
}

void LeaderView::on(const Event& event) {
    switch (event.kind) {
        case Event::Kind::gap:
            is_complete_ = false;
            holder_.reset();
            bytes_.clear();
            return;
        case Event::Kind::state:
            holder_.reset();
            if (!event.holders.empty()) holder_ = event.holders.front();
            bytes_ = event.value ? event.value->bytes : std::string{};
            return;
        case Event::Kind::state_complete: is_complete_ = true; return;
        case Event::Kind::granted:
        case Event::Kind::converted:
        case Event::Kind::published: holder_ = event.holder; return;
        case Event::Kind::released: holder_.reset(); return;
        case Event::Kind::value_set: bytes_ = event.value->bytes; return;
        case Event::Kind::value_removed: bytes_.clear(); return;
        case Event::Kind::value_dirty:
        case Event::Kind::value_consistent: return;
    }
}

}  // namespace mortise::detail
