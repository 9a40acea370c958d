# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Compiles the object files of the target without_epetra, and searches them for
# names of Epetra. Variables: BUILD_DIRECTORY, OBJECTS, NM

execute_process(
  COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIRECTORY} --target without_epetra
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The sources do not compile without Epetra:\n${output}")
endif()
execute_process(COMMAND ${NM} -g -C ${OBJECTS}
  RESULT_VARIABLE status OUTPUT_VARIABLE symbols ERROR_VARIABLE message)
if(NOT status EQUAL 0 OR NOT symbols MATCHES "Tessella::")
  message(FATAL_ERROR "The symbols cannot be listed: ${message}")
endif()
string(REGEX MATCH "[^\n]*Epetra[^\n]*" epetra "${symbols}")
if(epetra)
  message(FATAL_ERROR "An object file names Epetra: ${epetra}")
endif()
