// The former name of <mortise/testkit/link_matrix.hpp>.
#pragma once

#include <mortise/testing.hpp>
