# Tests and their labels.
#
# Labels, each a stage of scripts/test: unit, contract, api, parity, rtl, install, lint.

include(CTest)
find_package(GTest)
if(GTest_FOUND)
  include(GoogleTest)
endif()

set(DATUM_TEST_LABELS unit contract api parity rtl install lint)

# Registers each GoogleTest case of <target> as a ctest of its own.
#   datum_discover_tests(<target> LABEL <label> [PREFIX <text>] [TIMEOUT <seconds>] [ENVIRONMENT <NAME=value>...])
function(datum_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;PREFIX;TIMEOUT" "ENVIRONMENT")
  if(NOT arg_LABEL IN_LIST DATUM_TEST_LABELS)
    message(FATAL_ERROR "datum_discover_tests(${target}): LABEL '${arg_LABEL}' is none of ${DATUM_TEST_LABELS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  # Found when ctest runs, not when the program is linked: a build needs no board.
  gtest_discover_tests(${target} TEST_PREFIX "${arg_PREFIX}" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
