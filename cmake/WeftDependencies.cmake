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
if(NOT TARGET Threads::Threads)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED ${weft_quiet})
endif()
