#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include <mortise/errc.hpp>

namespace mortise {

namespace {

struct Row {
    Errc code;
    std::string_view name;
    std::string_view message;
    bool is_retryable = false;
    std::optional<std::errc> standard = std::nullopt;
};

// In the order of the enumerators, which begin at 1.
constexpr std::array rows{
    Row{Errc::timed_out, "timed_out",
        "the time ended before the lock was free; nothing is held, try again or wait longer", true,
        std::errc::timed_out},
    Row{Errc::cancelled, "cancelled", "cancelled by the caller; nothing is held", false,
        std::errc::operation_canceled},
    Row{Errc::session_expired, "session_expired",
        "this node had no contact with its cluster for too long and its session expired; acquire "
        "again",
        true},
    Row{Errc::lock_lost, "lock_lost",
        "the lock was lost before it was released; stop what it protects and acquire again"},
    Row{Errc::not_held, "not_held", "nothing is held here; check which hold is used, and how often",
        false, std::errc::operation_not_permitted},
    Row{Errc::outcome_unknown, "outcome_unknown",
        "sent, but no answer came in time; check what happened before repeating it"},
    Row{Errc::no_quorum, "no_quorum",
        "no majority of the members answered in time; try again, or look at the network", true,
        std::errc::resource_unavailable_try_again},
    Row{Errc::not_ready, "not_ready",
        "the node is not in its cluster, or not yet; wait until it is ready and try again", true,
        std::errc::resource_unavailable_try_again},
    Row{Errc::deadlock, "deadlock",
        "waiting here would complete a wait cycle; release what is held, then try again", false,
        std::errc::resource_deadlock_would_occur},
    Row{Errc::resource_exhausted, "resource_exhausted",
        "a limit is reached, of what this node holds or has in progress, or of what its cluster "
        "keeps "
        "or can do at once; release something, or try again later",
        true, std::errc::no_lock_available},
    Row{Errc::invalid_argument, "invalid_argument",
        "the call or the configuration is not valid; correct it", false,
        std::errc::invalid_argument},
    Row{Errc::kind_mismatch, "kind_mismatch",
        "the name is in use as something else or with another policy; use another name"},
    Row{Errc::stale_request, "stale_request", "this request was answered long ago; make a new one"},
    Row{Errc::node_stopped, "node_stopped", "the node is closed or has failed; open a new one"},
    Row{Errc::forked, "forked",
        "this belongs to the process that forked; open a node in the child"},
    Row{Errc::permission_denied, "permission_denied",
        "not allowed for this node or user; ask the operator of the cluster", false,
        std::errc::permission_denied},
    Row{Errc::incompatible, "incompatible",
        "the other side speaks another version; upgrade the older one", false,
        std::errc::protocol_not_supported},
};

constexpr bool codes_count_from_one() {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (static_cast<std::size_t>(rows[i].code) != i + 1) return false;
    }
    return true;
}
static_assert(codes_count_from_one());

const Row* find(int code) noexcept {
    const auto place = static_cast<std::size_t>(code) - 1;  // 0 wraps to a value beyond the end
    return place < rows.size() ? &rows[place] : nullptr;
}

class Category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "mortise"; }

    [[nodiscard]] std::string message(int code) const override {
        const Row* row = find(code);
        return row != nullptr ? std::string{row->message} : "unknown error " + std::to_string(code);
    }

    [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
        const Row* row = find(code);
        if (row == nullptr || !row->standard) return {code, *this};
        return std::make_error_condition(*row->standard);
    }
};

}  // namespace

std::string_view to_string(Errc code) noexcept {
    const Row* row = find(static_cast<int>(code));
    return row != nullptr ? row->name : "unknown";
}

const std::error_category& error_category() noexcept {
    static const Category category;
    return category;
}

std::error_code make_error_code(Errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

bool is_retryable(std::error_code code) noexcept {
    if (code.category() != error_category()) return false;
    const Row* row = find(code.value());
    return row != nullptr && row->is_retryable;
}

}  // namespace mortise
