// Everything of mortise::testkit.
#pragma once

#include <mortise/testkit/link_matrix.hpp>
#include <mortise/testkit/link_proxy.hpp>
#include <mortise/testkit/local_cluster.hpp>
#include <mortise/testkit/temp_directory.hpp>
