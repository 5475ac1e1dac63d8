#include "embed/console/event_streams.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "embed/console/answers.hpp"
#include "embed/console/event_queue.hpp"
#include "embed/http/http_server.hpp"
#include <mortise/observe.hpp>
#include <mortise/subscription.hpp>

namespace mortise::console {

namespace {

using namespace std::chrono_literals;

// So often a stream looks whether its browser has gone.
constexpr auto glance = 1s;
// So often something is sent, so that proxies and browsers know that the stream is alive.
constexpr auto silence_max = 15s;

std::string text_of_event(std::string_view name, const Position& position, const Json& data) {
    std::string text = "event: " + std::string{name} + "\n";
    if (position.is_set()) text += "id: " + position.to_string() + "\n";
    return text + "data: " + text_of(data) + "\n\n";
}

// After the newest entry that the node has applied.
Position present(const Node& node) {
    const auto applied = node.status().applied_index;
    return Position::from_string(std::to_string(applied)).value_or(Position{});
}

struct Wanted {
    std::string prefix;
    ObserveOptions options;
};

// A browser that lost its connection says in a header after which event it continues.
std::optional<Position> position_of(const std::string& text, httplib::Response& response) {
    auto position = Position::from_string(text);
    if (!position) answer_error(response, {400, "bad_position", "`from` is not a position"});
    return position;
}

std::optional<Wanted> wanted_by(const httplib::Request& request, httplib::Response& response) {
    Wanted wanted{request.get_param_value("prefix"), {}};
    wanted.options.only_this_name = request.get_param_value("exact") == "1";
    auto from = request.get_header_value("Last-Event-ID");
    if (from.empty()) from = request.get_param_value("from");
    if (from.empty()) return wanted;
    wanted.options.from = position_of(from, response);
    if (!wanted.options.from) return std::nullopt;
    return wanted;
}

}  // namespace

class EventStream {
public:
    // Throws the error of the node, if it refuses an observer.
    void begin(Node& node, const Wanted& wanted) {
        queue_->put("retry: 2000\n\n");
        const bool continues = wanted.options.from.has_value();
        const auto known = continues ? present(node) : Position{};
        changes_ = node.observe(wanted.prefix, lock_sink(continues, known), wanted.options);
        events_ = node.on_event([queue = queue_](const NodeEvent& event) {
            queue->put(text_of_event("node", {}, json_of(event)));
        });
    }
    void end() noexcept { queue_->end(); }

    // Writes what there is. False if the browser has gone.
    bool write(httplib::DataSink& sink) {
        auto taken = queue_->take(glance);
        const auto now = std::chrono::steady_clock::now();
        if (taken.text.empty() && now - written_at_ > silence_max) taken.text = ": alive\n\n";
        if (!sink.is_writable()) return false;
        if (!taken.text.empty()) {
            written_at_ = now;
            if (!sink.write(taken.text.data(), taken.text.size())) return false;
        }
        if (taken.is_last) sink.done();
        return true;
    }

private:
    // The state is not told: a page lists what it shows. Of an observer's first two events, the gap
    // is no news either.
    // Changes up to `known` happened before the reader continued.
    [[nodiscard]] EventSink lock_sink(bool continues, const Position& known) const {
        return [queue = queue_, is_told = continues, known](const Event& event) mutable {
            if (event.kind == Event::Kind::state) return;
            if (event.kind == Event::Kind::gap && !std::exchange(is_told, true)) return;
            const bool is_begin = event.kind == Event::Kind::state_complete;
            auto json = json_of(event);
            if (event.position.is_set() && event.position <= known) json["late"] = true;
            queue->put(text_of_event(is_begin ? "begin" : "lock", event.position, json));
        };
    }

    const std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();
    std::chrono::steady_clock::time_point written_at_ = std::chrono::steady_clock::now();
    Subscription changes_;
    Subscription events_;
};

void EventStreams::answer(const httplib::Request& request, httplib::Response& response) {
    const auto wanted = wanted_by(request, response);
    if (!wanted) return;
    const auto stream = std::make_shared<EventStream>();
    if (!add(stream))
        return answer_error(response,
                            {503, "too_many_streams", "at most 8 streams of events at a time"});
    stream->begin(node_, *wanted);
    auto& connection = HttpServer::current();
    connection.end_after_answer();
    connection.begin_stream();
    response.set_chunked_content_provider(
        "text/event-stream",
        [stream](std::size_t, httplib::DataSink& sink) { return stream->write(sink); });
}

bool EventStreams::add(const std::shared_ptr<EventStream>& stream) {
    const std::lock_guard lock{mutex_};
    std::erase_if(streams_, [](const auto& each) { return each.expired(); });
    if (has_ended_ || streams_.size() >= streams_max) return false;
    streams_.push_back(stream);
    return true;
}

std::size_t EventStreams::count() {
    const std::lock_guard lock{mutex_};
    std::erase_if(streams_, [](const auto& each) { return each.expired(); });
    return streams_.size();
}

void EventStreams::end_all() noexcept {
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
    for (const auto& each : streams_) {
        if (const auto stream = each.lock()) stream->end();
    }
}

}  // namespace mortise::console
