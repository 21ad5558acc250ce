# Included by weftConfig.cmake: weft::grpc_stub, if gRPC C++ and all that weft::grpc needs are there.
set(weft_grpc_stub_NEEDS "gRPC C++ and what weft::grpc needs")
include("${CMAKE_CURRENT_LIST_DIR}/weft_grpcConfig.cmake")
if(NOT TARGET gRPC::grpc++)
  # gRPC's configuration adds to the module path of whoever asks for it.
  set(weft_module_path "${CMAKE_MODULE_PATH}")
  find_package(gRPC CONFIG QUIET)
  set(CMAKE_MODULE_PATH "${weft_module_path}")
endif()
if(TARGET weft::grpc AND TARGET gRPC::grpc++)
  include("${CMAKE_CURRENT_LIST_DIR}/weft_grpc_stubTargets.cmake")
endif()
