# SPDX-License-Identifier: LGPL-2.1-or-later

# Mistakes in the coefficients of a parameter file: one sentence that names the
# parameter, and a non-zero exit status, on the host and, where there is one, on
# a CUDA device (automatic).

cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})

# run(PROGRAM FILE PATTERN SETTINGS...): a regular expression for stderr; % in
# settings stands for a semicolon
function(run program file pattern)
  set(settings)
  foreach(setting ${ARGN})
    string(REPLACE "%" "\\;" setting "${setting}")
    list(APPEND settings --set "${setting}")
  endforeach()
  foreach(backend host automatic)
    execute_process(
      COMMAND ${program} ${settings} --set Mesh/Levels=1
        --set Discretisation/Degree=1 --set Execution/Backend=${backend}
        ${PARAMETER_FILES}/${file}.prm
      WORKING_DIRECTORY ${DIRECTORY}
      RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
    string(REGEX REPLACE "[ \t\n]+" " " error "${error}")
    if(status EQUAL 0 OR NOT error MATCHES "${pattern}")
      message(FATAL_ERROR
        "${program} with ${ARGN} on ${backend}: exit status ${status}, and "
        "this should match \"${pattern}\":\n${error}")
    endif()
  endforeach()
endfunction()

# ---- unknown names, syntax
run(${LINEAR} poisson_2d "Equation/Diffusion.*foo" "Equation/Diffusion=1 + foo")
run(${LINEAR} poisson_2d "Equation/Source.*does not parse"
  "Equation/Source=1 + (x")
run(${NONLINEAR} nonlinear_diffusion_2d "Equation/Diffusion.*foo"
  "Equation/Diffusion=1 + foo*u")
# ---- numbers of components
run(${LINEAR} poisson_2d "Equation/Advection.*2" "Equation/Advection=1")
run(${LINEAR} poisson_2d "Equation/Diffusion" "Equation/Diffusion=1%2%3")
# ---- values that are not finite, with the place
run(${LINEAR} poisson_2d
  "'1/\\(x - x\\)' of Equation/Reaction is .* at the point \\([0-9.]+, [0-9.]+\\)"
  "Equation/Reaction=1/(x - x)" Equation/Source=1)
run(${LINEAR} poisson_2d
  "'log\\(x - 2\\)' of Equation/Source is .* at the point \\([0-9.]+, [0-9.]+\\)"
  "Equation/Source=log(x - 2)" "Equation/Reaction=1 + x")
run(${NONLINEAR} nonlinear_diffusion_2d
  "Equation/Diffusion = 1/\\(u - u\\) is .* at the point \\([0-9.]+, "
  "Equation/Diffusion=1/(u - u)" Equation/Source=1)
# ---- negative diffusion
run(${LINEAR} poisson_2d
  "negative at the point \\([0-9.]+, .*Equation/Diffusion"
  "Equation/Diffusion=x - 2" Equation/Source=1)
run(${LINEAR} poisson_2d
  "negative at the point \\([0-9.]+, .*Equation/Diffusion"
  "Equation/Diffusion=1%0%0%x - 2" Equation/Source=1)
run(${NONLINEAR} nonlinear_diffusion_2d
  "Equation/Diffusion = u - 10 is -.* where u is "
  "Equation/Diffusion=u - 10" Equation/Source=1)
