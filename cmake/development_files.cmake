# What a program needs that is built against Datum: headers, and files for CMake and pkg-config that say where things are.

include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/datum" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(datum_cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Datum")
configure_package_config_file("${PROJECT_SOURCE_DIR}/packaging/DatumConfig.cmake.in" "${PROJECT_BINARY_DIR}/DatumConfig.cmake"
  INSTALL_DESTINATION "${datum_cmake_folder}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/DatumConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/DatumConfig.cmake" "${PROJECT_BINARY_DIR}/DatumConfigVersion.cmake"
  DESTINATION "${datum_cmake_folder}" COMPONENT development)

# Relative to the file itself, so that a tree may be moved.
file(RELATIVE_PATH datum_pkgconfig_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/packaging/datum.pc.in" "${PROJECT_BINARY_DIR}/datum.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/datum.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
