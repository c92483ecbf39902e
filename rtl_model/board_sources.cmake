# The board's RTL, and how its models are made of it. Also part of an installation, for boards that are built upon this one.
#
#   datum_rtl_sources             packages first, in the order in which they use one another
#   datum_rtl_waivers             for Verilator's lint
#   datum_rtl_assertions          arguments that switch assertions on
#   datum_fast_arguments          arguments of Verilator for a model for speed: no assertions, no waveforms
#   datum_instrumented_arguments  for one with assertions, FST waveforms, line and user coverage, random initial values

set(datum_rtl_packages
  "${CMAKE_CURRENT_LIST_DIR}/rtl/datum_pkg.sv"
  "${CMAKE_CURRENT_LIST_DIR}/rtl/datum_reg_pkg.sv"
  "${CMAKE_CURRENT_LIST_DIR}/rtl/memory/datum_ecc_pkg.sv"
  "${CMAKE_CURRENT_LIST_DIR}/rtl/memory/datum_dram_pkg.sv"
  "${CMAKE_CURRENT_LIST_DIR}/rtl/mmu/datum_mmu_pkg.sv"
  "${CMAKE_CURRENT_LIST_DIR}/rtl/dma/datum_dma_pkg.sv")
file(GLOB_RECURSE datum_rtl_modules CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/rtl/*.sv")
list(REMOVE_ITEM datum_rtl_modules ${datum_rtl_packages})
set(datum_rtl_sources ${datum_rtl_packages} ${datum_rtl_modules})
set(datum_rtl_waivers "${CMAKE_CURRENT_LIST_DIR}/lint.vlt")
set(datum_rtl_assertions --assert +define+DATUM_ASSERTIONS)
set(datum_fast_arguments -O3 --x-assign fast --x-initial fast --noassert)
set(datum_instrumented_arguments -O3 ${datum_rtl_assertions} --trace-fst --trace-structs --coverage-line --coverage-user
  --x-assign unique --x-initial unique)
