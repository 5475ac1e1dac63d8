// Attempts to open a directory again.
#include "embed/runtime/reopening.hpp"

#include <future>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST(Reopening, PausesDoubleUpToTheLongest) {
    EXPECT_EQ(Reopening::after(Reopening::pause_min), 200ms);
    EXPECT_EQ(Reopening::after(3'200ms), 5s);
    EXPECT_EQ(Reopening::after(5s), 5s);
}

TEST(Reopening, TriesUntilAnAttemptIsTheLast) {
    std::vector<std::string> done;
    std::promise<void> over;
    Reopening reopening;
    reopening.begin(1ms, {.prepare = [&] { done.emplace_back("prepared"); },
                          .attempt =
                              [&](std::chrono::milliseconds waited) {
                                  done.push_back(std::to_string(waited.count()));
                                  if (done.size() < 4) return false;
                                  over.set_value();
                                  return true;
                              },
                          .failed = [](const std::string&) {}});
    over.get_future().wait();
    reopening.refuse();
    reopening.await();
    EXPECT_THAT(done, ElementsAre("prepared", "1", "2", "4"));
}

// The run that was opened was suspended as well.
TEST(Reopening, MayBeginAgain) {
    Reopening reopening;
    for (int times = 0; times < 2; ++times) {
        std::promise<void> over;
        reopening.begin(1ms, {.prepare = [] {},
                              .attempt =
                                  [&](auto) {
                                      over.set_value();
                                      return true;
                                  },
                              .failed = [](const std::string&) {}});
        over.get_future().wait();
    }
    reopening.refuse();
    reopening.await();
}

TEST(Reopening, MakesNoAttemptOnceItIsRefused) {
    int attempts = 0;
    int prepared = 0;
    const Reopening::Work work{.prepare = [&] { ++prepared; },
                               .attempt =
                                   [&](auto) {
                                       ++attempts;
                                       return true;
                                   },
                               .failed = [](const std::string&) {}};
    Reopening reopening;
    reopening.begin(1h, work);
    reopening.refuse();
    reopening.await();
    reopening.begin(1ms, work);
    reopening.await();
    EXPECT_EQ(prepared, 1);
    EXPECT_EQ(attempts, 0);
}

TEST(Reopening, ReportsAnExceptionAndGoesNoFurther) {
    std::promise<std::string> why;
    Reopening reopening;
    reopening.begin(1ms, {.prepare = [] {},
                          .attempt = [](auto) -> bool { throw std::runtime_error{"no memory"}; },
                          .failed = [&](const std::string& broken) { why.set_value(broken); }});
    EXPECT_EQ(why.get_future().get(), "no memory");
    reopening.refuse();
    reopening.await();
}

}  // namespace
}  // namespace mortise::detail
