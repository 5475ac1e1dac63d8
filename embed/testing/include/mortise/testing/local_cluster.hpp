// The former name of <mortise/testkit/local_cluster.hpp>.
#pragma once

#include <mortise/testing.hpp>
