// An acquire that a client waits for on a connection of its own. Nobody else waits: no thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

#include "embed/door/asked.hpp"
#include "embed/door/sessions.hpp"
#include "embed/http/parked.hpp"
#include <mortise/lock_error.hpp>
#include <mortise/node.hpp>

namespace mortise::door {

// The head of an answer that ends with its connection.
[[nodiscard]] std::string stream_head(std::string_view type);
// A whole answer.
[[nodiscard]] std::string whole_answer(int status, const http::Json& json);
[[nodiscard]] std::string whole_answer(const http::Refusal& refusal);

// The time at which the request was received, from which the times in its answers count.
using Received = BootClock::time_point;

// The outcome of an acquire.
struct Decided {
    std::error_code error{};
    ErrorDetail detail{};
    std::shared_ptr<Grant> grant{};  // none without an error: busy
    std::string hold{};              // its id in the session
};

class Acquiring : public http::Parked, public std::enable_shared_from_this<Acquiring> {
public:
    // `place` is kept as long as it exists.
    Acquiring(std::shared_ptr<http::Waker> waker, std::shared_ptr<Session> session,
              Received received, std::shared_ptr<void> place);
    ~Acquiring() override;

    // Begins, once. The grant becomes a hold of the session.
    void begin(Node& node, Wish wish);

    [[nodiscard]] bool say(std::string& text, bool all_received) final;
    void gone(Gone how) noexcept final;

protected:
    // Says what was decided; false: it is the last answer.
    [[nodiscard]] virtual bool tell(const Decided& decided, std::string& text) = 0;
    // After that.
    [[nodiscard]] virtual bool go_on(std::string& text, bool all_received) = 0;
    // The client has gone: what was decided is of no use to it. Called once at most.
    virtual void left(Gone how, const Decided& decided) noexcept = 0;

    [[nodiscard]] Session& session() const { return *session_; }
    [[nodiscard]] Received received() const { return received_; }
    void wake() const noexcept { waker_->wake(number()); }
    // How the error of an acquire is told, and that a name is busy.
    [[nodiscard]] static http::Refusal refusal_of(const Decided& decided);

private:
    class Then;
    void decide(std::error_code error, Hold hold) noexcept;

    const std::shared_ptr<http::Waker> waker_;
    const std::shared_ptr<Session> session_;
    const Received received_;
    const std::shared_ptr<void> place_;
    std::stop_source cancel_;
    std::optional<std::stop_callback<std::function<void()>>> ended_;
    bool is_told_ = false;  // used by the loop

    std::mutex mutex_;
    bool is_decided_ = false;
    bool has_gone_ = false;
    Decided decided_;
};

// Answers a request for a hold of a session.
class AcquireAnswer final : public Acquiring {
public:
    using Acquiring::Acquiring;

protected:
    [[nodiscard]] bool tell(const Decided& decided, std::string& text) override;
    // It is told when it was acknowledged.
    [[nodiscard]] bool go_on(std::string& /*text*/, bool all_received) override {
        return !all_received;
    }
    void left(Gone how, const Decided& decided) noexcept override;

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

protected:
    [[nodiscard]] bool tell(const Decided& decided, std::string& text) override;
    [[nodiscard]] bool go_on(std::string& text, bool all_received) override;
    void left(Gone how, const Decided& decided) noexcept override;

private:
    // Promises the hold until then, at most.
    [[nodiscard]] std::int64_t promised_ms();
    [[nodiscard]] static std::string last_line(const http::Refusal& why);

    std::shared_ptr<Grant> grant_;
    std::optional<std::stop_callback<std::function<void()>>> lost_;
    Session::Time next_line_{};
    bool may_be_believed_ = false;  // a client that is silent may still go by the last line
};

}  // namespace mortise::door
