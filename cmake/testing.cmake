# Tests and their labels.
#
# Labels, each a stage of scripts/test: unit, contract, api, conformance, parity, rtl, vm, install, clients, lint, valgrind. Fuzzers have
# the label fuzz and a tree of their own (tests/fuzz).

include(CTest)
find_package(GTest)
if(GTest_FOUND)
  include(GoogleTest)
endif()

set(DATUM_TEST_LABELS unit contract api conformance parity rtl vm install clients lint valgrind)

# What has to be built for the tests of a label, and no more: the targets tests_<label>.
foreach(label IN LISTS DATUM_TEST_LABELS)
  add_custom_target(tests_${label})
endforeach()

# Says that tests of <label> need <target>..., those of which that exist.
function(datum_tests_need label)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      add_dependencies(tests_${label} ${target})
    endif()
  endforeach()
endfunction()

# Registers each GoogleTest case of <target> as a ctest of its own.
#   datum_discover_tests(<target> LABEL <label> [LONG] [PREFIX <text>] [TIMEOUT <seconds>] [PROCESSORS <n>]
#                        [ENVIRONMENT <NAME=value>...] [ARGUMENTS <argument>...])
# LONG: only scripts/test --all runs them. PROCESSORS: how many processors a case keeps busy, so that ctest does not overload.
function(datum_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "LABEL;PREFIX;TIMEOUT;PROCESSORS" "ENVIRONMENT;ARGUMENTS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "datum_discover_tests(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LABEL IN_LIST DATUM_TEST_LABELS)
    message(FATAL_ERROR "datum_discover_tests(${target}): LABEL '${arg_LABEL}' is none of ${DATUM_TEST_LABELS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  datum_tests_need(${arg_LABEL} ${target})
  if(arg_LABEL STREQUAL "unit")
    set_property(GLOBAL APPEND PROPERTY DATUM_UNIT_PROGRAMS ${target})  # tests/valgrind runs them again
  endif()
  set(labels ${arg_LABEL})
  if(arg_LONG)
    list(APPEND labels long)
  endif()
  if(DATUM_SANITIZE MATCHES "address")
    string(PREPEND arg_PREFIX "asan/")
  elseif(DATUM_SANITIZE MATCHES "thread")
    string(PREPEND arg_PREFIX "tsan/")
  endif()
  # Found when ctest runs, not when the program is linked: a build needs no board.
  gtest_discover_tests(${target} TEST_PREFIX "${arg_PREFIX}" EXTRA_ARGS ${arg_ARGUMENTS} TEST_LIST datum_found_tests
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS})
  # gtest_discover_tests flattens lists, so properties that are lists are set by a script of our own, which ctest reads next.
  get_property(scripts DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  list(LENGTH scripts index)
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}_properties_${index}.cmake")
  file(GENERATE OUTPUT "${script}" CONTENT "if(datum_found_tests)
  set_tests_properties(\${datum_found_tests} PROPERTIES LABELS [==[${labels}]==] ENVIRONMENT [==[${arg_ENVIRONMENT}]==])
  unset(datum_found_tests)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()
