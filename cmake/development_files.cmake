# What a program needs that is built against Datum: headers, and files for CMake and pkg-config that say where things are.

include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/datum" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(datum_cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Datum")
configure_package_config_file("${PROJECT_SOURCE_DIR}/packaging/DatumConfig.cmake.in" "${PROJECT_BINARY_DIR}/DatumConfig.cmake"
  INSTALL_DESTINATION "${datum_cmake_folder}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/DatumConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/DatumConfig.cmake" "${PROJECT_BINARY_DIR}/DatumConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/datum_add_board.cmake"
  DESTINATION "${datum_cmake_folder}" COMPONENT development)

# Relative to the file itself, so that a tree may be moved.
file(RELATIVE_PATH datum_pkgconfig_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/packaging/datum.pc.in" "${PROJECT_BINARY_DIR}/datum.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/datum.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# What datum_add_board() makes boards of: the RTL, what runs Verilator, and what stands between a Verilated model and the simulation.
set(datum_design_folder "${CMAKE_INSTALL_DATADIR}/datum")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/rtl_model/rtl" DESTINATION "${datum_design_folder}/rtl_model" COMPONENT development
  FILES_MATCHING PATTERN "*.sv")
foreach(file IN ITEMS lint.vlt board_sources.cmake verilated_model.cmake verilate.py verilated_runtime/verilated_failure.cpp
    verilated_runtime/verilated_failure.hpp verilated_runtime/verilated_coverage.hpp verilated_runtime/verilated_print.h)
  cmake_path(GET file PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/rtl_model/${file}" DESTINATION "${datum_design_folder}/rtl_model/${folder}" COMPONENT development)
endforeach()
foreach(file IN ITEMS board_pins.hpp design_entry.cpp design_entry.map recording.cpp recording.hpp verilated_board.hpp
    verilated_board_of.hpp)
  install(FILES "${PROJECT_SOURCE_DIR}/sim/rtl/${file}" DESTINATION "${datum_design_folder}/sim/rtl" COMPONENT development)
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/my_accelerator" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/datum-dev/examples"
  COMPONENT development)
