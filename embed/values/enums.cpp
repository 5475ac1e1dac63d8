#include <mortise/enums.hpp>
#include <mortise/event.hpp>

// No switch has a default, so that the compiler reports a new enumerator without a name.
namespace mortise {

std::string_view to_string(LockMode mode) noexcept {
    switch (mode) {
        case LockMode::intent_shared: return "intent_shared";
        case LockMode::intent_exclusive: return "intent_exclusive";
        case LockMode::shared: return "shared";
        case LockMode::shared_intent_exclusive: return "shared_intent_exclusive";
        case LockMode::update: return "update";
        case LockMode::exclusive: return "exclusive";
    }
    return "unknown";
}

std::string_view to_string(QueuePolicy policy) noexcept {
    switch (policy) {
        case QueuePolicy::phase_fair: return "phase_fair";
        case QueuePolicy::fifo: return "fifo";
        case QueuePolicy::prefer_readers: return "prefer_readers";
        case QueuePolicy::prefer_writers: return "prefer_writers";
    }
    return "unknown";
}

std::string_view to_string(HoldState state) noexcept {
    switch (state) {
        case HoldState::held: return "held";
        case HoldState::at_risk: return "at_risk";
        case HoldState::suspended: return "suspended";
        case HoldState::lost: return "lost";
        case HoldState::released: return "released";
    }
    return "unknown";
}

std::string_view to_string(LossReason reason) noexcept {
    switch (reason) {
        case LossReason::none: return "none";
        case LossReason::expired: return "expired";
        case LossReason::broken: return "broken";
        case LossReason::node_stopped: return "node_stopped";
        case LossReason::forked: return "forked";
    }
    return "unknown";
}

std::string_view to_string(Predecessor how) noexcept {
    switch (how) {
        case Predecessor::none: return "none";
        case Predecessor::clean: return "clean";
        case Predecessor::expired: return "expired";
        case Predecessor::broken: return "broken";
    }
    return "unknown";
}

std::string_view to_string(ClosedBy why) noexcept {
    switch (why) {
        case ClosedBy::broken: return "broken";
        case ClosedBy::min_hold: return "min_hold";
        case ClosedBy::lock_delay: return "lock_delay";
    }
    return "unknown";
}

std::string_view to_string(BreakMode mode) noexcept {
    switch (mode) {
        case BreakMode::confirmed: return "confirmed";
        case BreakMode::immediate: return "immediate";
    }
    return "unknown";
}

std::string_view to_string(OnUncertain choice) noexcept {
    switch (choice) {
        case OnUncertain::lose: return "lose";
        case OnUncertain::suspend: return "suspend";
    }
    return "unknown";
}

std::string_view to_string(Caching caching) noexcept {
    switch (caching) {
        case Caching::adaptive: return "adaptive";
        case Caching::off: return "off";
    }
    return "unknown";
}

std::string_view to_string(ReadLevel level) noexcept {
    switch (level) {
        case ReadLevel::linearizable: return "linearizable";
        case ReadLevel::local: return "local";
    }
    return "unknown";
}

std::string_view to_string(Role role) noexcept {
    switch (role) {
        case Role::voter: return "voter";
        case Role::learner: return "learner";
        case Role::client: return "client";
    }
    return "unknown";
}

std::string_view to_string(Standing standing) noexcept {
    switch (standing) {
        case Standing::follower: return "follower";
        case Standing::pre_candidate: return "pre_candidate";
        case Standing::candidate: return "candidate";
        case Standing::leader: return "leader";
    }
    return "unknown";
}

std::string_view to_string(NameKind kind) noexcept {
    switch (kind) {
        case NameKind::lock: return "lock";
        case NameKind::semaphore: return "semaphore";
        case NameKind::latch: return "latch";
        case NameKind::barrier: return "barrier";
    }
    return "unknown";
}

std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
        case LogLevel::off: return "off";
    }
    return "unknown";
}

std::string_view to_string(LogFormat format) noexcept {
    switch (format) {
        case LogFormat::text: return "text";
        case LogFormat::json: return "json";
    }
    return "unknown";
}

std::string_view to_string(Durability durability) noexcept {
    switch (durability) {
        case Durability::synced: return "synced";
        case Durability::replicated: return "replicated";
    }
    return "unknown";
}

std::string_view to_string(NodeEvent::Kind kind) noexcept {
    switch (kind) {
        case NodeEvent::Kind::ready: return "ready";
        case NodeEvent::Kind::not_ready: return "not_ready";
        case NodeEvent::Kind::became_leader: return "became_leader";
        case NodeEvent::Kind::lost_leadership: return "lost_leadership";
        case NodeEvent::Kind::leader_changed: return "leader_changed";
        case NodeEvent::Kind::peer_up: return "peer_up";
        case NodeEvent::Kind::peer_down: return "peer_down";
        case NodeEvent::Kind::session_opened: return "session_opened";
        case NodeEvent::Kind::session_expired: return "session_expired";
        case NodeEvent::Kind::hold_lost: return "hold_lost";
        case NodeEvent::Kind::not_held: return "not_held";
        case NodeEvent::Kind::loop_overrun: return "loop_overrun";
        case NodeEvent::Kind::slow_callback: return "slow_callback";
        case NodeEvent::Kind::stopped: return "stopped";
        case NodeEvent::Kind::members_changed: return "members_changed";
        case NodeEvent::Kind::removed: return "removed";
        case NodeEvent::Kind::certificate_expires: return "certificate_expires";
        case NodeEvent::Kind::lock_broken: return "lock_broken";
        case NodeEvent::Kind::member_added: return "member_added";
        case NodeEvent::Kind::member_removed: return "member_removed";
        case NodeEvent::Kind::suspended: return "suspended";
        case NodeEvent::Kind::resumed: return "resumed";
        case NodeEvent::Kind::timing_differs: return "timing_differs";
        case NodeEvent::Kind::slow_hold: return "slow_hold";
        case NodeEvent::Kind::long_wait: return "long_wait";
    }
    return "unknown";
}

}  // namespace mortise
