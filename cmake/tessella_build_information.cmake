# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# cmake -DSOURCE_DIRECTORY=. -DOUTPUT=file.h -DCUDA=... -DCOMPILER=... -P ...
# Writes a header with what --version of the programs prints about the build:
# TESSELLA_COMMIT, TESSELLA_CUDA_TOOLKIT and TESSELLA_COMPILER. The file is left
# as it is if nothing has changed, so that nothing is compiled again.

set(commit "unknown")
find_program(git git)
if(git AND EXISTS ${SOURCE_DIRECTORY}/.git)
  execute_process(COMMAND ${git} rev-parse --short=12 HEAD
    WORKING_DIRECTORY ${SOURCE_DIRECTORY}
    RESULT_VARIABLE status OUTPUT_VARIABLE hash ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(commit "${hash}")
    execute_process(COMMAND ${git} diff --quiet HEAD
      WORKING_DIRECTORY ${SOURCE_DIRECTORY}
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(NOT status EQUAL 0)
      string(APPEND commit " with changes")
    endif()
  endif()
endif()
set(text "#define TESSELLA_COMMIT \"${commit}\"
#define TESSELLA_CUDA_TOOLKIT \"${CUDA}\"
#define TESSELLA_COMPILER \"${COMPILER}\"
")
set(present)
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} present)
endif()
if(NOT present STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
