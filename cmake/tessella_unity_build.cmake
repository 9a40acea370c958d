# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# tessella_unity_build(<target>)
#
# If TESSELLA_UNITY_BUILD is set, the files of a target are compiled in groups of
# up to TESSELLA_UNITY_BATCH_SIZE, each group as one translation unit: the templates
# of deal.II and the C++ library that several files use are instantiated and
# optimised once. Eight files of source/numerics took 48 s of processor time instead
# of 88 s, with precompiled headers. CMake compiles files with options of their own
# separately.
#
# Names of one file are visible in the files after it: qualify a call that another
# function of the same name could answer.
function(tessella_unity_build target)
  if(NOT TESSELLA_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON
    UNITY_BUILD_BATCH_SIZE ${TESSELLA_UNITY_BATCH_SIZE})
  # The compiler considers the anonymous namespaces of the files to be those of a
  # header.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endfunction()

# tessella_group_device_files(<variable> <output folder>)
#
# Replaces the files of cuda/device and of cuda/hdg in a list by one file for each
# folder that includes them. The 11 files of cuda/hdg without kernels of their own
# took 3.1 s of processor time instead of 18.5 s in the front end. Names of files of
# other folders clash.
function(tessella_group_device_files variable output)
  set(files ${${variable}})
  foreach(folder device hdg)
    set(group ${files})
    list(FILTER group INCLUDE REGEX "/cuda/${folder}/[^/]*$")
    if(group)
      list(REMOVE_ITEM files ${group})
      list(TRANSFORM group PREPEND "#include \"")
      list(TRANSFORM group APPEND "\"\n")
      string(CONCAT text ${group})
      file(GENERATE OUTPUT ${output}/cuda_${folder}.cu CONTENT "${text}")
      list(APPEND files ${output}/cuda_${folder}.cu)
    endif()
  endforeach()
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()
