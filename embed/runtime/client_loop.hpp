// The loop of a client node on the core thread: its core, its connection to a member, and the calls
// and holds of its program (S49, docs/decisions/0051).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/client/client_core.hpp"
#include "embed/runtime/age_watch.hpp"
#include "embed/runtime/client_reads.hpp"
#include "embed/runtime/close_steps.hpp"
#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/loop_timer.hpp"
#include "embed/runtime/member_connection.hpp"
#include "embed/runtime/member_observer.hpp"
#include "embed/runtime/member_places.hpp"
#include "embed/runtime/node_loop.hpp"
#include "embed/runtime/program_side.hpp"
#include "embed/runtime/unready_watch.hpp"

namespace mortise::detail {

class ClientLoop final : public NodeLoop {
public:
    ClientLoop(LoopParts parts, const core::ClientOptions& options);
    ~ClientLoop() override;

    void begin(SubmittedCalls calls) override;
    void take_calls() override;
    void set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials) override;
    void fail(const std::string& reason) override;
    void begin_close(std::function<void()> done) override;
    void end() override;
    void abandon(const std::string& reason) override;
    [[nodiscard]] Status status() const override;
    [[nodiscard]] std::vector<SessionInfo> sessions(SessionId /*after*/) const override {
        return {};
    }
    [[nodiscard]] Metrics metrics() const override;
    [[nodiscard]] bool is_removed() const override { return false; }

private:
    void step(core::ClientEvent event);
    void carry_out(core::ClientEffects effects);
    void answered(core::CallAnswer answer);
    void dial(const core::ClientEffects::Dial& dial);
    void connection_up(core::MemberConnectionId id, const core::Hello& member);
    void connection_down(core::MemberConnectionId id, const std::string& why);
    void serve_observers();
    void begin_warnings();
    void ask_about(const std::string& name, AgeWatch::Knowledge::Told told);
    void look(std::size_t member);
    void look_at(std::size_t member, const core::MemberLoad& own);
    void members_changed();
    void note_why(const std::string& why);  // the member is not used any more
    void hang_up();
    void watch_ready();
    void say_other_cluster(core::ClusterId former);
    [[nodiscard]] std::string why_not_ready() const;
    [[nodiscard]] core::Instant deadline() const;
    void set_timer();
    void timer_fired();
    void stop(const std::string& reason);

    LoopParts parts_;
    core::ClientOptions options_;
    core::ClientCore core_;
    LoopTimer timer_;
    ProgramSide program_;
    ClientReads reads_;

    MemberPlaces members_;
    std::shared_ptr<MemberConnection> connection_;  // to core_.connection()
    core::MemberConnectionId connection_id_;
    std::size_t member_ = 0;                          // its place among the members
    std::string address_;                             // where it was dialled
    std::unique_ptr<transport::MemberClient> other_;  // that is looked at
    core::NodeId member_id_;                          // set while it is connected
    std::vector<std::shared_ptr<MemberObserver>> observers_;
    std::map<std::string, std::string> whys_;  // why members cannot be used, by their addresses

    std::deque<core::ClientEvent> events_;  // that came within a step
    bool stepping_ = false;
    bool is_stopped_ = false;
    bool ended_ = false;
    bool ready_ = false;
    CloseSteps closing_;
    core::Instant began_;
    AgeWatch ages_;
    UnreadyWatch unready_;
};

}  // namespace mortise::detail
