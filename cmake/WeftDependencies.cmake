# The libraries that Weft is built from, and one list of them for the target, the package and the .pc file.

# Imported targets are otherwise visible in this directory only, and a consumer that links weft::weft from the
# directory above would not find them.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

set(weft_quiet)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(weft_quiet QUIET)
endif()

# Abseil's targets in public headers, and those that only lib/ uses.
set(WEFT_PUBLIC_ABSL any_invocable status statusor strings time)
set(WEFT_PRIVATE_ABSL
  base bits cleanup core_headers flat_hash_map flat_hash_set hash inlined_vector int128 span str_format)

# A parent project may have brought its own.
if(NOT TARGET absl::status)
  find_package(absl CONFIG REQUIRED ${weft_quiet})
endif()
if(NOT TARGET OpenSSL::SSL)
  find_package(OpenSSL 3.0 REQUIRED ${weft_quiet})
endif()
if(NOT TARGET Nghttp2::nghttp2)
  find_package(Nghttp2 1.52 REQUIRED ${weft_quiet})
endif()
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json CONFIG REQUIRED ${weft_quiet})
endif()
# Headers only, as Weft uses it: consumers need nothing of it.
find_path(WEFT_XXHASH_INCLUDE_DIR xxhash.h)
mark_as_advanced(WEFT_XXHASH_INCLUDE_DIR)
if(NOT WEFT_XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "Weft needs the header xxhash.h (Debian: libxxhash-dev)")
endif()
if(NOT TARGET Threads::Threads)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED ${weft_quiet})
endif()

# The component weft::grpc. Protobuf from release 22 on has to be found by its own configuration, which knows of Abseil;
# Debian's 3.21 has none and is found by CMake's module.
macro(weft_find_protobuf)
  if(NOT TARGET protobuf::libprotobuf)
    find_package(protobuf CONFIG QUIET)
  endif()
  if(NOT TARGET protobuf::libprotobuf)
    find_package(Protobuf 3.12 ${ARGN})
  endif()
endmacro()

set(weft_grpc_default OFF)
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CACHE{WEFT_BUILD_GRPC})
  find_package(ZLIB QUIET)
  weft_find_protobuf(QUIET)
  if(TARGET ZLIB::ZLIB AND TARGET protobuf::libprotobuf)
    set(weft_grpc_default ON)
  else()
    message(STATUS "weft::grpc is left out: it needs protobuf and zlib (then -DWEFT_BUILD_GRPC=ON)")
  endif()
endif()
option(WEFT_BUILD_GRPC "Build the component weft::grpc: gRPC calls (needs protobuf and zlib)" ${weft_grpc_default})
if(WEFT_BUILD_GRPC)
  if(NOT TARGET ZLIB::ZLIB)
    find_package(ZLIB REQUIRED ${weft_quiet})
  endif()
  weft_find_protobuf(REQUIRED ${weft_quiet})
endif()

# The component weft::grpc_stub. gRPC's configuration adds to the module path of whoever asks for it.
set(weft_module_path "${CMAKE_MODULE_PATH}")
set(weft_grpc_stub_default OFF)
if(WEFT_BUILD_GRPC AND PROJECT_IS_TOP_LEVEL AND NOT DEFINED CACHE{WEFT_BUILD_GRPC_STUB})
  find_package(gRPC CONFIG QUIET)
  if(TARGET gRPC::grpc++)
    set(weft_grpc_stub_default ON)
  endif()
endif()
option(WEFT_BUILD_GRPC_STUB "Build the component weft::grpc_stub: generated stubs over Weft (needs weft::grpc, gRPC C++)"
  ${weft_grpc_stub_default})
if(WEFT_BUILD_GRPC_STUB AND NOT WEFT_BUILD_GRPC)
  message(FATAL_ERROR "WEFT_BUILD_GRPC_STUB needs WEFT_BUILD_GRPC")
endif()
if(WEFT_BUILD_GRPC_STUB AND NOT TARGET gRPC::grpc++)
  find_package(gRPC CONFIG REQUIRED ${weft_quiet})
endif()
set(CMAKE_MODULE_PATH "${weft_module_path}")
