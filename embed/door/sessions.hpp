// The sessions of the door's clients. Each is an owner within the session of this node, with a time
// of its own: nothing of them is in the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "embed/door/grant.hpp"
#include "embed/http/answers.hpp"
#include <mortise/boot_clock.hpp>
#include <mortise/duration.hpp>
#include <mortise/locker.hpp>
#include <mortise/node.hpp>

namespace mortise::door {

class Claim;

// Thread-safe.
class Session {
public:
    using Time = BootClock::time_point;

    struct Facts {
        std::string id;
        std::string user;
        std::string label;
        Duration ttl{};
        std::size_t holds_max = 0;
        Locker locker{};  // none: each hold is its own owner
        // A stream says that its client is there, so no time runs until it breaks.
        bool is_kept_by_stream = false;
    };

    explicit Session(Facts facts);

    [[nodiscard]] const Facts& facts() const { return facts_; }
    // Its client was heard: its time begins anew. False if it has ended.
    bool keep();
    // It ends then, unless it is kept; earlier times stay.
    void end_at(Time time);
    // Its client ends it: releases all that it holds, without waiting.
    void end() noexcept;
    // The door closes: its client gets nothing more, and what it was told stands. So it ends when
    // that is over, or when its client ends it.
    void close() noexcept;
    // Ends it if its time is over, or if it closes and nothing of what it holds is left. A client
    // that was not heard loses what it holds; it has released nothing.
    void look(Time now);
    // The same if what its client was told is over. True if it has ended, now or before.
    bool end_if_promised_over(Time now);
    [[nodiscard]] bool has_ended() const;
    // Why its client gets nothing any more: session_expired, node_stopped, or no error.
    [[nodiscard]] std::error_code failure() const;
    // A stop is requested when it has one.
    [[nodiscard]] std::stop_token ending() const { return ending_.get_token(); }
    // The time until which it lives if it is not kept; the last time there is: until it is ended.
    [[nodiscard]] Time until() const;

    // The id for a new claim.
    [[nodiscard]] std::string new_id();
    // A request of its client waits for a claim, on a connection that is open: the session does not
    // end meanwhile. The claim is the one that has the same key, or else this one; null if there is
    // no room for it.
    [[nodiscard]] std::shared_ptr<Claim> enter(const std::shared_ptr<Claim>& claim,
                                               std::uint64_t connection);
    // The wait is over; the grant, if there is one, is a hold from now on. False if the session has
    // ended: then it is given back.
    bool settle(const std::string& id, const std::shared_ptr<Grant>& grant) noexcept;
    [[nodiscard]] std::shared_ptr<Grant> find(const std::string& hold) const;
    [[nodiscard]] std::shared_ptr<Grant> take(const std::string& hold);
    // Whether it is one that was released, and not one that never was.
    [[nodiscard]] bool has_had(const std::string& hold) const;
    // The time until which its client may be told that it holds this. What was told is a promise:
    // the session does not end before, unless its client has closed it. The past if it has ended.
    [[nodiscard]] Time promise(const Grant& grant, Time limit = Time::max());
    // The latest of them.
    [[nodiscard]] Time promised() const;
    // With its holds, whose times count from then on.
    [[nodiscard]] http::Json json(Time from);

private:
    struct Entry {
        std::shared_ptr<Claim> claim;
        std::shared_ptr<Grant> grant;  // null while it waits
    };
    using Claims = std::map<std::string, Entry>;
    struct Ended {
        Claims claims{};
        bool is_lapse = false;  // its client was not heard
    };

    void begin_time_anew();                     // requires mutex_
    [[nodiscard]] bool holds_anything() const;  // requires mutex_
    // Requires mutex_. From then on it gets no time, no hold and no promise; what it held is to be
    // given back without the mutex.
    [[nodiscard]] Ended end_now(bool is_lapse) noexcept;
    void give_back(const Ended& ended) noexcept;

    const Facts facts_;
    mutable std::mutex mutex_;
    bool is_ended_ = false;
    bool is_closing_ = false;
    std::stop_source ending_;
    Time until_;
    Time promised_{};
    std::size_t waits_ = 0;
    std::size_t last_id_ = 0;
    Claims claims_;  // by their ids
};

// Thread-safe.
class Sessions {
public:
    explicit Sessions(std::size_t sessions_max) : sessions_max_{sessions_max} {}

    // Null if there are too many, or the user has its share of them. `facts` is without an id.
    [[nodiscard]] std::shared_ptr<Session> open(Session::Facts facts);
    // Null also for the session of another user.
    [[nodiscard]] std::shared_ptr<Session> find(const std::string& id, const std::string& user);
    // Ends those whose time is over. True while there are any.
    bool look();
    // No session is opened any more, and all close.
    void close() noexcept;
    [[nodiscard]] std::size_t count() const;

private:
    const std::size_t sessions_max_;
    mutable std::mutex mutex_;
    bool is_closing_ = false;
    std::unordered_map<std::string, std::shared_ptr<Session>> sessions_;
};

}  // namespace mortise::door
