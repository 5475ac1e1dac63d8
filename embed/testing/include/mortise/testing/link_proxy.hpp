// The former name of <mortise/testkit/link_proxy.hpp>.
#pragma once

#include <mortise/testing.hpp>
