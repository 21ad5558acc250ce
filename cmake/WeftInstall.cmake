# Headers, the libraries, a CMake package, pkg-config files and a .deb. Each component has an export set
# weft_<component>Targets, cmake/weft_<component>Config.cmake and cmake/weft-<component>.pc.in ("-" for "_").

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Empty if a parent project brought Abseil.
set(weft_absl_version "${absl_VERSION}")
if(weft_absl_version)
  string(APPEND weft_absl_version " EXACT")
endif()

set(weft_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(TARGETS weft EXPORT weftTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION "${weft_cmake_dir}")

foreach(component IN LISTS WEFT_COMPONENTS)
  install(TARGETS weft_${component} EXPORT weft_${component}Targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT weft_${component}Targets NAMESPACE weft:: DESTINATION "${weft_cmake_dir}")
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/weft_${component}Config.cmake" DESTINATION "${weft_cmake_dir}")
endforeach()
list(JOIN WEFT_COMPONENTS " " weft_known_components)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in" "${PROJECT_BINARY_DIR}/weftConfig.cmake"
  INSTALL_DESTINATION "${weft_cmake_dir}"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/weftConfig.cmake"
  "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindNghttp2.cmake"
  DESTINATION "${weft_cmake_dir}")

# weft.pc finds its prefix from where it lies, so that the tree may be moved.
list(TRANSFORM WEFT_PUBLIC_ABSL PREPEND absl_ OUTPUT_VARIABLE weft_pc_requires)
list(TRANSFORM WEFT_PRIVATE_ABSL PREPEND absl_ OUTPUT_VARIABLE weft_pc_requires_private)
list(APPEND weft_pc_requires_private libnghttp2 openssl)
list(JOIN weft_pc_requires ", " weft_pc_requires)
list(JOIN weft_pc_requires_private ", " weft_pc_requires_private)
set(weft_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(weft_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(weft_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(weft_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${weft_pc_dir}" OUTPUT_VARIABLE weft_pc_prefix)
  string(REGEX REPLACE "/$" "" weft_pc_prefix "\${pcfiledir}/${weft_pc_prefix}")
  set(weft_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(weft_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
foreach(package IN ITEMS weft LISTS WEFT_COMPONENTS)
  string(REPLACE "_" "-" pc "${package}")
  if(NOT package STREQUAL "weft")
    string(PREPEND pc "weft-")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${pc}.pc.in" "${PROJECT_BINARY_DIR}/${pc}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc}.pc" DESTINATION "${weft_pc_dir}")
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME weft)
  set(CPACK_PACKAGE_VENDOR "The Weft authors")
  set(CPACK_PACKAGE_CONTACT "The Weft authors <weft@localhost>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION} (static library and headers)")
  set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES OFF)
  set(CPACK_DEBIAN_PACKAGE_NAME libweft-dev)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libabsl-dev, libnghttp2-dev (>= 1.52), libssl-dev (>= 3.0)")
  # Not demanded of those who only use the core.
  set(weft_deb_recommends)
  if(WEFT_BUILD_GRPC)
    list(APPEND weft_deb_recommends libprotobuf-dev zlib1g-dev)
  endif()
  if("grpc_stub" IN_LIST WEFT_COMPONENTS)
    list(APPEND weft_deb_recommends libgrpc++-dev)
  endif()
  list(JOIN weft_deb_recommends ", " CPACK_DEBIAN_PACKAGE_RECOMMENDS)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  include(CPack)
endif()
