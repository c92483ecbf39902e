# Unity builds: what most sources of a target include is then parsed and instantiated once for all of them.
#
# Off unless asked for, since a change of one source compiles its neighbours too. Sources that are compiled together share their
# unnamed namespaces: names in those are unique within a target, or the target sets UNITY_BUILD OFF.

set(DATUM_UNITY_SOURCES 16)

# All targets of the current folder and below that do not say otherwise.
function(datum_join_sources)
  if(NOT DATUM_UNITY_BUILD)
    return()
  endif()
  datum_list_compiled_targets(targets "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(target IN LISTS targets)
    get_target_property(said ${target} UNITY_BUILD)
    if(said STREQUAL "said-NOTFOUND")
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${DATUM_UNITY_SOURCES})
      # g++ tells the main file from others here, and the main file is CMake's.
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    endif()
  endforeach()
endfunction()
