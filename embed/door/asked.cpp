#include "embed/door/asked.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "embed/door/routes.hpp"
#include <mortise/election.hpp>
#include <mortise/errc.hpp>

namespace mortise::door {

namespace {

constexpr std::size_t depth_max = 8;

// Deeper ones are no request, and cost memory and stack.
bool is_flat(std::string_view json) {
    std::size_t depth = 0;
    bool is_text = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        if (json[i] == '"') is_text = !is_text;
        if (is_text && json[i] == '\\') ++i;
        if (is_text) continue;
        if (json[i] == '[' || json[i] == '{') ++depth;
        if ((json[i] == ']' || json[i] == '}') && depth > 0) --depth;
        if (depth > depth_max) return false;
    }
    return true;
}

std::optional<std::string> from_form(std::string_view text) {
    std::string spaced{text};
    std::ranges::replace(spaced, '+', ' ');
    return decoded(spaced);
}

std::string quoted(const char* name) {
    return "`" + std::string{name} + "`";
}

LockRequest request_of(const Json& json, LockMode mode) {
    if (auto name = http::bytes_of(json)) return {*std::move(name), mode};
    auto asked = json.is_object() ? Asked::of_body(json.dump()) : Asked{};
    if (!asked.has("name")) refuse("`names` is a list of names, or of {\"name\", \"mode\"}");
    const auto own = asked.one_of("mode", LockMode::exclusive);
    LockRequest request{asked.text("name"), own.value_or(mode)};
    asked.refuse_the_rest();
    return request;
}

// A wait of zero is one attempt; without a limit it is the longest.
void set_wait(detail::AcquireOrder& order, std::optional<Duration> wait, Duration wait_max) {
    if (wait && *wait <= Duration::zero()) {
        order.attempt = detail::Attempt::once;
        return;
    }
    order.attempt = detail::Attempt::wait;
    order.options.wait_max = std::min(wait.value_or(wait_max), wait_max);
}

void set_options(AcquireOptions& options, Asked& asked) {
    options.label = asked.text("label");
    options.max_hold = asked.time("max_hold").value_or(options.max_hold);
    options.min_hold = asked.time("min_hold").value_or(options.min_hold);
    options.lock_delay = asked.time("lock_delay").value_or(options.lock_delay);
    const auto priority = asked.number("priority").value_or(0);
    if (priority > 7) refuse("`priority` is 0 to 7");
    options.priority = static_cast<int>(priority);
    options.queue_policy = asked.one_of("queue_policy", QueuePolicy::prefer_writers);
}

void set_permits(detail::AcquireOrder& order, Asked& asked) {
    const auto count = asked.number("permits");
    const auto limit = asked.number("limit");
    if (!count && !limit) return;
    if (!limit) refuse("`permits` goes with `limit`, the size of a new semaphore");
    if (order.several) refuse("permits are of one name");
    order.permits = detail::Permits{count.value_or(1), *limit};
}

void set_what_is_held(detail::AcquireOrder& order, Asked& asked) {
    order.options.mode = asked.one_of("mode", LockMode::exclusive).value_or(LockMode::exclusive);
    if (asked.has("names")) {
        const bool is_any = asked.flag("any");
        order.several = {asked.names(order.options.mode), !is_any};
    }
    set_permits(order, asked);
}

// An object that has a key twice is refused, because parsers differ in which value they take.
class KeysSeen {
public:
    bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
        using Event = Json::parse_event_t;
        if (event == Event::object_start) objects_.emplace_back();
        if (event == Event::object_end) objects_.pop_back();
        if (event == Event::key)
            has_twice_ |= !objects_.back().insert(parsed.get<std::string>()).second;
        return true;
    }
    [[nodiscard]] bool has_twice() const { return has_twice_; }

private:
    std::vector<std::set<std::string>> objects_;
    bool has_twice_ = false;
};

}  // namespace

void refuse(std::string reason) {
    throw Refused{{400, "bad_request", std::move(reason)}};
}

Asked Asked::of_target(std::string_view target) {
    Asked asked;
    const auto begin = target.find('?');
    auto query = begin == std::string_view::npos ? std::string_view{} : target.substr(begin + 1);
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(pair.size() + 1, query.size()));
        const auto equals = std::min(pair.find('='), pair.size());
        const auto name = from_form(pair.substr(0, equals));
        const auto value = from_form(pair.substr(std::min(equals + 1, pair.size())));
        if (!name || !value) refuse("a percent sign is followed by two hexadecimal digits");
        if (asked.members_.contains(*name)) refuse("a parameter is given once");
        asked.members_[*name] = http::json_text(*value);
    }
    return asked;
}

Asked Asked::of_body(const std::string& body) {
    Asked asked;
    if (body.empty()) return asked;
    asked.is_json_ = true;
    KeysSeen seen;
    if (is_flat(body)) asked.members_ = Json::parse(body, std::ref(seen), false);
    if (!asked.members_.is_object() || !is_flat(body)) refuse("the body is an object in JSON");
    if (seen.has_twice()) refuse("an object has each of its keys once");
    return asked;
}

const Json* Asked::find(const char* name) {
    const auto found = members_.find(name);
    if (found == members_.end() || found->is_null()) return nullptr;
    used_.insert(name);
    return &*found;
}

bool Asked::has(const char* name) {
    return find(name) != nullptr;
}

std::string Asked::text(const char* name) {
    const auto* const found = find(name);
    if (found == nullptr) return {};
    auto bytes = http::bytes_of(*found);
    if (!bytes) refuse(quoted(name) + " is a text");
    return *std::move(bytes);
}

std::optional<Duration> Asked::time(const char* name) {
    if (!has(name)) return std::nullopt;
    const auto time = Duration::parse(text(name));
    if (!time || *time < Duration::zero())
        refuse(quoted(name) + " is a time with its unit, such as 500ms or 10s");
    return time;
}

std::optional<std::uint32_t> Asked::number(const char* name) {
    const auto* const found = find(name);
    if (found == nullptr) return std::nullopt;
    const auto digits = found->is_string() ? found->get<std::string>() : found->dump();
    std::uint32_t number = 0;
    const auto* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) refuse(quoted(name) + " is a whole number");
    return number;
}

bool Asked::flag(const char* name) {
    const auto* const found = find(name);
    if (found == nullptr || *found == "0" || *found == false) return false;
    if (*found != "1" && *found != true)
        refuse(quoted(name) + (is_json_ ? " is true or false" : " is 1 or 0"));
    return true;
}

std::vector<LockRequest> Asked::names(LockMode mode) {
    const auto* const found = find("names");
    if (found == nullptr) return {};
    if (!found->is_array()) refuse("`names` is a list");
    std::vector<LockRequest> requests;
    for (const auto& each : *found)
        requests.push_back(request_of(each, mode));
    return requests;
}

void Asked::refuse_the_rest() const {
    for (const auto& [name, value] : members_.items()) {
        if (!value.is_null() && !used_.contains(name))
            refuse("there is no `" + name.substr(0, 64) + "` here");
    }
}

Wish wish_of(Asked& asked, std::string name, Duration wait_max, const char* value) {
    Wish wish;
    auto& order = wish.order;
    order.name = std::move(name);
    set_options(order.options, asked);
    set_wait(order, asked.time("wait"), wait_max);
    if (value != nullptr) {
        wish.published = asked.text(value);
        if (wish.published->size() > Election::value_bytes_max)
            refuse(quoted(value) + " has at most " + std::to_string(Election::value_bytes_max) +
                   " bytes");
    } else {
        set_what_is_held(order, asked);
    }
    const bool has_names = order.several.has_value();
    if (has_names != order.name.empty()) refuse("a request has `name` or `names`");
    return wish;
}

std::vector<std::string> names_of(const Wish& wish) {
    if (!wish.order.several) return {wish.order.name};
    std::vector<std::string> names;
    for (const auto& each : wish.order.several->requests)
        names.push_back(each.name);
    return names;
}

}  // namespace mortise::door
