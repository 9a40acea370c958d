# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# The target "documentation" builds the site of the documents, tutorials and classes in
# TESSELLA_SITE_DIRECTORY/html. It exists if doxygen, Python and MathJax 2 (Debian:
# doxygen, python3, libjs-mathjax) are found, and is not part of "all". The
# site is installed if it was built.
set(TESSELLA_SITE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/site CACHE PATH
  "Folder in which the target documentation builds the site")
find_package(Doxygen QUIET)
find_program(TESSELLA_PYTHON python3)
find_path(TESSELLA_MATHJAX_DIRECTORY jax/output/SVG/jax.js
  PATHS /usr/share/javascript/mathjax)
mark_as_advanced(TESSELLA_SITE_DIRECTORY TESSELLA_PYTHON
  TESSELLA_MATHJAX_DIRECTORY)
if(DOXYGEN_FOUND AND TESSELLA_PYTHON AND TESSELLA_MATHJAX_DIRECTORY)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/doc/site/Doxyfile.in
    ${CMAKE_CURRENT_BINARY_DIR}/Doxyfile @ONLY)
  set(site ${TESSELLA_SITE_DIRECTORY})
  # Pages of an earlier build would remain in the folder. Warnings end the target
  # before the link check.
  add_custom_target(documentation
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${site}/html
    COMMAND ${TESSELLA_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/doc/site/make_pages.py
      ${CMAKE_CURRENT_SOURCE_DIR} ${site}/source ${TESSELLA_MATHJAX_DIRECTORY}
    COMMAND Doxygen::doxygen ${CMAKE_CURRENT_BINARY_DIR}/Doxyfile
    COMMAND ${TESSELLA_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/doc/site/finish_pages.py ${site}/html
      ${site}/source
    COMMAND ${TESSELLA_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/contrib/check_site.py
      ${site}/html ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Building the documentation site in ${site}/html" VERBATIM)
endif()
install(DIRECTORY ${TESSELLA_SITE_DIRECTORY}/html/
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/html COMPONENT doc OPTIONAL)
