# The hardware half: registers, rings, MMU maintenance, waiting, faults.
set(DATUM_DEVICE_SOURCES
  board.cpp
  clock_pair.cpp
  error_set.cpp
  interrupt_hub.cpp
  mmu.cpp
  ring.cpp
  traced_function.cpp
  traffic_counters.cpp)
list(TRANSFORM DATUM_DEVICE_SOURCES PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
