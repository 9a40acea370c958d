# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# tessella_precompile_headers(<target>)
#
# If TESSELLA_PRECOMPILED_HEADERS is set, all C++ files of a target use a
# precompiled header with the most common headers of deal.II. This saves four of
# the eight seconds of compile time per file and needs 0.8 GB on disk. Call the
# function after all compile options of the target are set. Files with options
# of their own are left alone, except for -O3: a precompiled header is valid for all
# levels of optimisation, but for one set of other options, and host kernels must
# not share inline functions with other files.
function(tessella_precompile_headers target)
  if(NOT TESSELLA_PRECOMPILED_HEADERS)
    return()
  endif()
  # The library needs position-independent code, and all users of the
  # precompiled header must have the same flags.
  set(position_independent ${CMAKE_CXX_COMPILE_OPTIONS_PIC})
  # This object library has one empty file and owns the precompiled header,
  # which all other targets use. The target tessella cannot own it, because it
  # is compiled with a macro that programs do not have.
  if(NOT TARGET tessella_headers)
    set(source ${PROJECT_BINARY_DIR}/headers.cc)
    file(GENERATE OUTPUT ${source} CONTENT "")
    add_library(tessella_headers OBJECT ${source})
    deal_ii_setup_target(tessella_headers)
    target_compile_options(tessella_headers PRIVATE
      ${tessella_symbols} ${position_independent})
    # grid_tools.h includes headers of Trilinos if deal.II has it, so that all
    # files would get inline functions of Epetra.
    set(grid_tools)
    set(trilinos_headers)
    if(TESSELLA_HAVE_EPETRA)
      set(grid_tools
        <deal.II/grid/grid_tools.h>)
      set(trilinos_headers
        <deal.II/lac/trilinos_sparse_matrix.h>
        <deal.II/lac/trilinos_vector.h>)
    endif()
    target_precompile_headers(tessella_headers PRIVATE
      <deal.II/base/exceptions.h>
      <deal.II/base/function.h>
      <deal.II/base/mpi.h>
      <deal.II/base/multithread_info.h>
      <deal.II/base/parallel.h>
      <deal.II/base/parameter_handler.h>
      <deal.II/base/quadrature_lib.h>
      <deal.II/base/tensor_function.h>
      <deal.II/base/timer.h>
      <deal.II/base/utilities.h>
      <deal.II/fe/fe_values.h>
      <deal.II/fe/mapping_q.h>
      <deal.II/grid/grid_generator.h>
      ${grid_tools}
      <deal.II/grid/tria.h>
      <deal.II/hp/fe_collection.h>
      <deal.II/lac/dynamic_sparsity_pattern.h>
      <deal.II/lac/full_matrix.h>
      <deal.II/lac/solver_cg.h>
      <deal.II/lac/sparse_matrix.h>
      <deal.II/lac/vector.h>
      <algorithm>
      <array>
      <cmath>
      <map>
      <memory>
      <string>
      <vector>
      ${trilinos_headers})
  endif()
  # Properties of source files belong to directories.
  set(directory)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.18)
    set(directory TARGET_DIRECTORY ${target})
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(options ${source} ${directory} COMPILE_OPTIONS)
    if("${options}" STREQUAL "$<$<CONFIG:Release>:-O3>")
      set(options)
    endif()
    # deal.II's tests also link an empty file.
    if(options OR source MATCHES "interrupt_guard")
      set_source_files_properties(${source} ${directory} PROPERTIES
        SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  target_compile_options(${target} PRIVATE ${position_independent})
  target_precompile_headers(${target} REUSE_FROM tessella_headers)
endfunction()
