// The whole terminal, for a program that draws again and again. It uses the alternate screen, so
// that nothing of it is left when it ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <termios.h>

namespace mortise::cli {

// Whether this program can draw on the terminal and read its keys.
[[nodiscard]] bool has_screen();

struct ScreenSize {
    std::size_t columns = 80;
    std::size_t rows = 24;
};
// Of the terminal that standard output is; the usual size if it is none.
[[nodiscard]] ScreenSize screen_size();

// Blocks those that Screen::wait_for() tells, in this thread and in those that it starts later. To
// be called before other threads begin.
void block_signals_of_a_screen();

class Screen {
public:
    // Something that happened; `nothing`: the time is over.
    enum class News { nothing, key, resized, asked_to_end };

    Screen();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // Replaces what is shown.
    void draw(const std::vector<std::string>& lines);
    // Waits for a key, another size, or SIGINT, SIGTERM, SIGHUP or SIGQUIT. A stop by the terminal
    // (SIGTSTP) gives the terminal back until the program goes on, and then counts as another size.
    [[nodiscard]] News wait_for(std::chrono::milliseconds time);
    // The key of the last News::key.
    [[nodiscard]] char key() const { return key_; }

private:
    void enter();
    void leave();
    [[nodiscard]] News read_signal();
    [[nodiscard]] News read_key();
    void stop();

    int signals_ = -1;
    termios former_{};
    char key_ = 0;
};

}  // namespace mortise::cli
