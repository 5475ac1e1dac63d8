// For tests of the judges: the fixture's found() returns the reported violation, or nothing.
#pragma once

#include <string>

#include <gtest/gtest.h>

#define EXPECT_VIOLATION(text) EXPECT_NE(found().find(text), std::string::npos) << found()
