# The Python module, where Debian's interpreter looks for it, and its example.

install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/datum" DESTINATION lib/python3/dist-packages COMPONENT python FILES_MATCHING PATTERN "*.py")
install(PROGRAMS "${PROJECT_SOURCE_DIR}/examples/python/copy.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/python3-datum/examples" COMPONENT python)
