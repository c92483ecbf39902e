// The groups of benchmarks; each runs in a process of its own, because the loader chooses the board once.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"

namespace datum::bench {

/// Allocation, pointer queries, sharing and start, host side, on model:, beside the peers that are there.
std::vector<Figure> run_memory_group();
/// What of the memory group any driver can be asked, of the one in ZE_ENABLE_ALT_DRIVERS. How the memory
/// group measures a peer.
std::vector<Figure> run_any_driver_group();
/// Initialisation to first context of the same driver, once, because a process can do it only once.
std::vector<Figure> run_start_group();
/// What of the commands group any driver can be asked: recording, and events of the host.
std::vector<Figure> run_any_recording_group();
/// Recording and executing commands, host side, on model:, beside Intel's driver where it is there.
std::vector<Figure> run_commands_group();
/// What the driver adds to the kernel's calls on a card: mapping host memory, and small host allocations.
std::vector<Figure> run_vfio_group();
/// The kernel's map calls on the same card, by a program without the driver. A part of the vfio group.
std::vector<Figure> run_bare_mapping_group();
/// Cycles of the copy engine alone and of the whole board; exact.
std::vector<Figure> run_rtl_group();
/// What the simulation costs the host.
std::vector<Figure> run_sim_group();
/// The simulated clock while copying, on the board of DATUM_BOARDS. A part of the sim group.
std::vector<Figure> run_sim_clock_group();

}  // namespace datum::bench
