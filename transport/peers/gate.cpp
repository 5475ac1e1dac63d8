#include "transport/peers/gate.hpp"

#include <utility>

#include "transport/wire/convert.hpp"

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace mortise::transport {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class Gate final : public wire::Gate::Server {
public:
    explicit Gate(std::weak_ptr<Visit> visit) : visit_{std::move(visit)} {}

    kj::Promise<void> hello(HelloContext context) override {
        const auto visit = visit_.lock();
        if (!visit || !visit->is_open()) return kj::READY_NOW;
        const auto greeting = read_guarded([&] { return context.getParams().getHello(); });
        auto answer = context.getResults().initAnswer();
        const bool again = std::exchange(greeted_, true);
        auto admittance = again ? refused(Refusal::busy)
                                : visit->hello(greeting ? std::optional{*greeting} : std::nullopt);
        if (admittance.refusal) {
            write(*admittance.refusal, answer.initRefused());
            return kj::READY_NOW;
        }
        write(admittance.ours, answer.initHello());
        if (admittance.member) {
            answer.setMember(*admittance.member);
        } else {
            answer.setPeer(*admittance.peer);
        }
        return kj::READY_NOW;
    }

private:
    static Admittance refused(Refusal why) { return {why, {}, std::nullopt, std::nullopt}; }

    std::weak_ptr<Visit> visit_;
    bool greeted_ = false;
};

}  // namespace

wire::Gate::Client make_gate(std::weak_ptr<Visit> visit) {
    return kj::heap<Gate>(std::move(visit));
}

wire::Peer::Client make_peer() {
    return kj::heap<wire::Peer::Server>();
}

}  // namespace mortise::transport
