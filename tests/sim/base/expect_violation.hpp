// For tests of the checkers: the fixture's found() answers what was reported, or nothing.
#pragma once

#include <string>

#include <gtest/gtest.h>

#define EXPECT_VIOLATION(text) EXPECT_NE(found().find(text), std::string::npos) << found()
