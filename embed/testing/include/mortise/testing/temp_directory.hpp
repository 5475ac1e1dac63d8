// The former name of <mortise/testkit/temp_directory.hpp>.
#pragma once

#include <mortise/testing.hpp>
