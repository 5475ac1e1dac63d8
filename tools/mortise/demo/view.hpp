// What the demonstration shows: a line for each event, and who holds what. On a terminal the latter
// stays below the events and is written over.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mortise::cli {

class View {
public:
    // Each element is a line.
    using Picture = std::function<std::vector<std::string>()>;

    View(bool live, Picture picture);
    ~View();
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    void event(const std::string& text);
    // Draws the picture anew if it is time.
    void refresh();

private:
    void wipe();
    void draw();

    bool live_;
    Picture picture_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point drawn_ = begin_;
    std::size_t height_ = 0;  // of what is on the screen now
};

}  // namespace mortise::cli
