# What makes work on Weft itself quick. Included only when Weft is the top-level project.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(WEFT_CCACHE NAMES ccache)
  mark_as_advanced(WEFT_CCACHE)
  if(WEFT_CCACHE)
    # The sloppiness that ccache asks for before it caches anything compiled with a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${WEFT_CCACHE}")
  endif()
endif()

# Linking some dozen test programs is what costs: take the fastest linker there is.
include(CheckLinkerFlag)
foreach(linker IN ITEMS mold lld)
  check_linker_flag(CXX "-fuse-ld=${linker}" WEFT_HAVE_${linker})
  if(WEFT_HAVE_${linker})
    add_link_options("-fuse-ld=${linker}")
    break()
  endif()
endforeach()

if(WEFT_WARNINGS OR WEFT_WERROR)
  add_compile_options(-Wall -Wextra -Wshadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees these in its own std::string where they are not (GCC bugs 105329 and 105651).
    add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()
if(WEFT_WERROR)
  add_compile_options(-Werror)
endif()

# Kernels that place memory with more than 28 random bits put it where the ThreadSanitizer of GCC 12 and clang 14
# cannot follow, and the program dies before main. Run programs without randomisation there.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread" AND EXISTS /proc/sys/vm/mmap_rnd_bits)
  file(READ /proc/sys/vm/mmap_rnd_bits weft_rnd_bits)
  string(STRIP "${weft_rnd_bits}" weft_rnd_bits)
  find_program(WEFT_SETARCH NAMES setarch)
  mark_as_advanced(WEFT_SETARCH)
  if(weft_rnd_bits GREATER 28 AND WEFT_SETARCH)
    execute_process(COMMAND "${WEFT_SETARCH}" -R true RESULT_VARIABLE weft_setarch_result
      OUTPUT_QUIET ERROR_QUIET)
    if(weft_setarch_result EQUAL 0)
      set(CMAKE_CROSSCOMPILING_EMULATOR "${WEFT_SETARCH}" -R)
    else()
      message(WARNING "vm.mmap_rnd_bits is ${weft_rnd_bits}: ThreadSanitizer may fail to start; "
        "set it to 28 with `sysctl vm.mmap_rnd_bits=28`")
    endif()
  endif()
endif()
