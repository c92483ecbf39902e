// The small driver of a board that co-verification has, under the names that tests use.
#pragma once

#include "cosim/board_driver.hpp"

namespace datum::test {

using cosim::BoardDriver;
using cosim::HostBuffer;
using TestRing = cosim::Ring;

using cosim::copy_descriptor;
using cosim::fill_descriptor;
using cosim::plain_descriptor;
using cosim::timestamp_descriptor;
using cosim::wait_descriptor;
using cosim::write_value_descriptor;

}  // namespace datum::test
