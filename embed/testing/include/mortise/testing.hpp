// Everything of mortise::testing.
#pragma once

#include <mortise/testing/link_matrix.hpp>
#include <mortise/testing/link_proxy.hpp>
#include <mortise/testing/local_cluster.hpp>
#include <mortise/testing/temp_directory.hpp>
