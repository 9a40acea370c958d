// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_vector_instantiations_h
#define tessella_cuda_lac_vector_instantiations_h

// Instantiation of the functions of vector.h for one number type, to be used in
// namespace Tessella::internal::Device: in vector.cu, and in the file that
// defines these functions for a build without CUDA.
#define TESSELLA_INSTANTIATE_VECTOR_OPERATIONS(Number)                          \
  template Number *allocate<Number>(const std::size_t);                         \
  template void    upload(Number *, const Number *, const std::size_t);         \
  template void    download(Number *, const Number *, const std::size_t);       \
  template void    copy(Number *, const double *, const std::size_t);           \
  template void    copy(Number *, const float *, const std::size_t);            \
  template void    set(Number *, const std::size_t, const Number);              \
  template void    combine(Number *,                                            \
                           const std::size_t,                                   \
                           const Number,                                        \
                           const Number,                                        \
                           const Number *,                                      \
                           const Number,                                        \
                           const Number *);                                     \
  template void    shift(Number *, const std::size_t, const Number);            \
  template void    multiply(Number *, const Number *, const std::size_t);       \
  template ReproducibleSum dot(const Number *,                                  \
                               const Number *,                                  \
                               const std::size_t);                              \
  template ReproducibleSum add_and_dot(Number *,                                \
                                       const Number,                            \
                                       const Number *,                          \
                                       const Number *,                          \
                                       const std::size_t);                      \
  template ReproducibleSum sum(const Number *, const std::size_t);              \
  template ReproducibleSum absolute_sum(const Number *, const std::size_t);     \
  template double          absolute_maximum(const Number *, const std::size_t); \
  template bool equal(const Number *, const Number *, const std::size_t);

#endif
