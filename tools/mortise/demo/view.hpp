// The output of the demonstration: a line for each event, and the present holders. On a terminal
// the latter stay below the events and are overwritten.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mortise::cli {

class View {
public:
    // Each element is one line.
    using Picture = std::function<std::vector<std::string>()>;

    View(bool live, Picture picture);
    ~View();
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    void event(const std::string& text);
    // Draws the picture again if it is time.
    void refresh();

private:
    void wipe();
    void draw();

    bool live_;
    Picture picture_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point drawn_ = begin_;
    std::size_t height_ = 0;  // the number of lines on the screen now
};

}  // namespace mortise::cli
