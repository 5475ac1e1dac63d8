// The connections on which clients wait for a claim, and are told of it. No thread waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "embed/door/asked.hpp"
#include "embed/door/claim.hpp"
#include "embed/door/sessions.hpp"
#include "embed/http/parked.hpp"
#include <mortise/node.hpp>

namespace mortise::door {

// The head of an answer that ends with its connection.
[[nodiscard]] std::string stream_head(std::string_view type);
// A whole answer.
[[nodiscard]] std::string whole_answer(int status, const http::Json& json);
[[nodiscard]] std::string whole_answer(const http::Refusal& refusal);

// The time at which the request was received, from which the times in its answers count.
using Received = BootClock::time_point;

class Acquiring : public http::Parked {
public:
    // `place` is kept as long as it exists.
    Acquiring(std::shared_ptr<Session> session, Received received, std::shared_ptr<void> place)
        : session_{std::move(session)}, received_{received}, place_{std::move(place)} {}
    ~Acquiring() override;

    // Begins, or joins what was asked for with that key, once. Throws Refused.
    void begin(Node& node, Wish wish, std::shared_ptr<http::Waker> waker, RequestKey key = {});

    [[nodiscard]] bool say(std::string& text, bool all_received) final;

protected:
    // Says what was decided; false: it is the last answer.
    [[nodiscard]] virtual bool tell(const Decided& decided, std::string& text) = 0;
    // After that.
    [[nodiscard]] virtual bool go_on(std::string& text, bool all_received) = 0;

    [[nodiscard]] Session& session() const { return *session_; }
    [[nodiscard]] Claim& claim() const { return *claim_; }
    [[nodiscard]] Received received() const { return received_; }
    // How the error of an acquire is told, and that a name is busy.
    [[nodiscard]] static http::Refusal refusal_of(const Decided& decided);

    bool may_know_ = false;  // its client may go by what it was told

private:
    const std::shared_ptr<Session> session_;
    const Received received_;
    const std::shared_ptr<void> place_;
    std::shared_ptr<Claim> claim_;
    bool is_told_ = false;
};

// Answers a request for a hold of a session.
class AcquireAnswer final : public Acquiring {
public:
    using Acquiring::Acquiring;

    void gone(Gone how) noexcept override;

protected:
    [[nodiscard]] bool tell(const Decided& decided, std::string& text) override;
    [[nodiscard]] bool go_on(std::string& text, bool all_received) override;

private:
    bool was_said_ = false;
};

// Holds as long as its connection is open: lines of JSON, one for the grant, one from time to time,
// and one for the end.
class HoldStream final : public Acquiring {
public:
    using Acquiring::Acquiring;
    // Its session is not to outlive it, however it ended.
    ~HoldStream() override;

    void gone(Gone how) noexcept override;

protected:
    [[nodiscard]] bool tell(const Decided& decided, std::string& text) override;
    [[nodiscard]] bool go_on(std::string& text, bool all_received) override;

private:
    // Promises the hold until then, at most.
    [[nodiscard]] std::int64_t promised_ms();
    [[nodiscard]] static std::string last_line(const http::Refusal& why);
    [[nodiscard]] bool says_that_the_door_closes(std::string& text, bool all_received);

    std::shared_ptr<Grant> grant_;
    std::optional<std::stop_callback<std::function<void()>>> lost_;
    Session::Time next_line_{};
    bool knows_that_it_closes_ = false;  // its client was told
};

}  // namespace mortise::door
