#include "tools/mortise/demo/view.hpp"

#include <cstdio>
#include <iostream>
#include <utility>

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto live_period = 100ms;
constexpr auto plain_period = 2s;

std::string seconds_since(std::chrono::steady_clock::time_point begin) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    char text[32];
    std::snprintf(text, sizeof text, "%6.2f s  ", elapsed.count());
    return text;
}

}  // namespace

View::View(bool live, Picture picture) : live_{live}, picture_{std::move(picture)} {}

View::~View() {
    wipe();
}

void View::event(const std::string& text) {
    wipe();
    std::cout << seconds_since(begin_) << text << '\n';
    if (live_) draw();
    std::cout.flush();
}

void View::refresh() {
    const auto now = std::chrono::steady_clock::now();
    if (now - drawn_ < (live_ ? live_period : plain_period)) return;
    drawn_ = now;
    wipe();
    draw();
    std::cout.flush();
}

void View::wipe() {
    if (height_ > 0) std::cout << "\x1b[" << height_ << "A\x1b[J" << std::flush;
    height_ = 0;
}

void View::draw() {
    const auto lines = picture_();
    for (const auto& line : lines)
        std::cout << (live_ ? line : "          | " + line) << '\n';
    if (live_) height_ = lines.size();
}

}  // namespace mortise::cli
