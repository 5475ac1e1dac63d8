#include <algorithm>
#include <array>
#include <charconv>
#include <exception>

#include "embed/values/terms.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/node.hpp>
#include <mortise/run_once.hpp>

namespace mortise {

namespace {

// The value of the name is a word, a token and the outcome: "finished 42\n3 rows".
constexpr std::array run_words{std::pair{RunEnd::running, std::string_view{"running"}},
                               std::pair{RunEnd::finished, std::string_view{"finished"}},
                               std::pair{RunEnd::failed, std::string_view{"failed"}}};
constexpr std::size_t outcome_bytes_max = 4'000;

std::string run_value(RunEnd end, FencingToken token, std::string_view outcome) {
    const auto* word = std::ranges::find(run_words, end, [](const auto& one) { return one.first; });
    std::string value{word->second};
    value += ' ' + std::to_string(token.raw()) + '\n';
    return value += outcome.substr(0, outcome_bytes_max);
}

std::optional<LastRun> parsed_run(std::string_view value) {
    const auto space = value.find(' ');
    const auto line = value.find('\n');
    if (space == value.npos || line == value.npos || line < space) return std::nullopt;
    const auto* word = std::ranges::find(run_words, value.substr(0, space),
                                         [](const auto& one) { return one.second; });
    std::int64_t token = 0;
    const auto* end = value.data() + line;
    const auto [rest, error] = std::from_chars(value.data() + space + 1, end, token);
    if (word == run_words.end() || error != std::errc{} || rest != end) return std::nullopt;
    return LastRun{word->first, std::string{value.substr(line + 1)}, FencingToken::from_raw(token)};
}

[[noreturn]] void refuse_run(Errc code, std::string_view name, std::string reason) {
    throw LockError{code, {std::string{name}, {}, {}, std::move(reason)}};
}

std::optional<LastRun> run_or_refuse(std::string_view name, std::string_view value) {
    if (value.empty()) return std::nullopt;
    auto last = parsed_run(value);
    if (!last) refuse_run(Errc::kind_mismatch, name, "its value is not that of a run");
    return last;
}

// A name that serves something else must not be closed for the interval by mistake, so this is
// asked before the acquire.
void refuse_other_use(Node& node, std::string_view name) {
    const auto info = node.inspect(name);
    if (info.value) (void)run_or_refuse(name, info.value->bytes);
}

// Read under an exclusive hold, so a run that has not ended never will.
std::optional<LastRun> run_before(const Hold& hold) {
    auto last = run_or_refuse(hold.name(), hold.value());
    if (last && last->end == RunEnd::running) last->end = RunEnd::interrupted;
    return last;
}

// The job's exception matters more than an error of the cluster.
void note_failure(const Hold& hold, const char* what) noexcept {
    try {
        std::error_code ignored;
        hold.set_value(run_value(RunEnd::failed, hold.token(), what), ignored);
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory the run counts as interrupted
    }
}

std::string call_job(const detail::Job& job, const JobRun& run) {
    try {
        return job(run);
    } catch (const std::exception& error) {
        note_failure(run.hold, error.what());
        throw;
    } catch (...) {
        note_failure(run.hold, "an exception that is no std::exception");
        throw;
    }
}

}  // namespace

bool detail::run_once_per(Node& node, std::string_view name, Duration interval, const Job& job,
                          const RunOptions& options) {
    if (!is_interval(interval))
        refuse_run(Errc::invalid_argument, name, "the interval is above zero, and at most 24 days");
    refuse_other_use(node, name);
    auto hold = node.try_acquire(
        name, {.label = options.label, .min_hold = interval, .lock_delay = options.lock_delay});
    if (!hold) return false;
    const JobRun run{*hold, run_before(*hold)};
    hold->set_value(run_value(RunEnd::running, hold->token(), {}));
    if (run.last && run.last->end == RunEnd::interrupted) hold->consistent();
    const auto outcome = call_job(job, run);
    hold->set_value(run_value(RunEnd::finished, hold->token(), outcome));
    return true;
}

std::optional<LastRun> last_run(Node& node, std::string_view name, std::error_code& ec) {
    const auto info = node.inspect(name, ec);
    if (ec || !info.value) return std::nullopt;
    auto last = parsed_run(info.value->bytes);
    const auto runs = [&](const HolderInfo& holder) { return holder.token == last->token; };
    if (last && last->end == RunEnd::running && std::ranges::none_of(info.holders, runs))
        last->end = RunEnd::interrupted;
    return last;
}

std::optional<LastRun> last_run(Node& node, std::string_view name) {
    std::error_code ec;
    auto last = last_run(node, name, ec);
    if (ec) throw LockError{ec, {std::string{name}, {}, {}}};
    return last;
}

}  // namespace mortise
