// Writes down what happens on a stage, except routine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/conversations/message_words.hpp"
#include "tests/conversations/news.hpp"
#include "tests/conversations/stage.hpp"

namespace mortise::conversations {

// One line. The lines of a step after its first have no time.
struct Line {
    std::string time;
    std::string who;  // "node 1 -> disk"; empty: `text` is a remark of the scene
    std::string text;
    friend bool operator==(const Line&, const Line&) = default;
};

// One arrow of the picture, or a note over `from` if `to` is empty.
struct Arrow {
    std::string from;
    std::string to;
    std::string label;
    friend bool operator==(const Arrow&, const Arrow&) = default;
};

class Transcript {
public:
    // Nothing is written down before the first call, and times count from there.
    void begin(Nanoseconds at);
    // Whether the rows that are saved to the state on disk are written down as well.
    void shows_state(bool on) { shows_state_ = on; }
    // Whether the picture has acknowledgements, and messages that only report the commit index.
    void draws_acknowledgements(bool on) { draws_acknowledgements_ = on; }
    // An event that concerns the stage and not a single node.
    void remark(Nanoseconds at, const std::string& text);
    void watch(const Step& step);

    [[nodiscard]] News& news() { return news_; }
    [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
    [[nodiscard]] const std::vector<Arrow>& arrows() const { return arrows_; }

private:
    void add(const std::string& with, const std::string& text);
    void draw(std::string from, std::string to, std::string label);
    void write_event(const Step& step);
    void write_notes(const Step& step);
    void write_write(const Step& step);
    void write_messages(const Step& step);
    void write_applied(const Step& step);
    void write_program(const Step& step);
    void write_state(const Step& step);
    std::string tell(const core::Entry& entry);
    [[nodiscard]] bool is_drawn(const core::PeerMessage& message) const;
    [[nodiscard]] std::string time(Nanoseconds at) const;

    News news_;
    bool is_on_ = false;
    bool shows_state_ = false;
    bool draws_acknowledgements_ = false;
    Nanoseconds begin_{};
    std::string node_;        // of the current step
    std::vector<Line> step_;  // its lines
    bool is_shown_ = false;   // the step has more than its event, or the event is worth it
    std::vector<Arrow> step_arrows_;
    std::vector<Line> lines_;
    std::vector<Arrow> arrows_;
};

}  // namespace mortise::conversations
