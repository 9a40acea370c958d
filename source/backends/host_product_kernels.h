// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Kernels for products without a matrix, part of host_kernels_implementation.h.
//
// A discrete function u = sum_i c_i phi_i with products of one-dimensional
// polynomials phi_i = P_a(x) P_b(y) P_c(z) is summed variable by variable at
// each point: sums over c for each (a, b), then over b for each a, then over a.
// The functions themselves are not formed. For N functions, values and
// gradients cost 2 N multiplications and additions for the last variable and
// fewer for the others. Tests are the transposed sums.

// One-dimensional polynomials, without the factors that depend on the box.
template <int dim, unsigned int degree>
struct PointPolynomials
{
  PointPolynomials(const Box<dim>      &box,
                   const double *const *x,
                   const unsigned int   q)
  {
    for (int d = 0; d < dim; ++d)
      Legendre::evaluate<Vector>(
        degree, (load(x[d] + q) - box.center[d]) * box.scale[d], v[d], g[d]);
  }

  Vector v[dim][degree + 1], g[dim][degree + 1];
};

// Index of function (a, b, c) or (a, b) in the graded order.
template <int dim>
constexpr unsigned int
graded_index(const unsigned int a, const unsigned int b, const unsigned int c)
{
  // Functions of lower grades, then those of this grade with a larger a, and
  // then with a larger b.
  const unsigned int grade = a + b + c, rest = grade - a;
  return dim == 2 ? grade * (grade + 1) / 2 + rest
                  : grade * (grade + 1) * (grade + 2) / 6 +
                      rest * (rest + 1) / 2 + (rest - b);
}

// rows[0] = u, rows[1 + d] = du/dx_d for coefficients k.
template <int dim, unsigned int degree>
inline __attribute__((always_inline)) void
sum_functions(const PointPolynomials<dim, degree> &p,
              const double                        *k,
              Vector                              *rows)
{
  for (int r = 0; r <= dim; ++r)
    rows[r] = Vector{};
#pragma GCC unroll 8
  for (unsigned int a = 0; a <= degree; ++a)
    {
      if constexpr (dim == 2)
        {
          Vector s = broadcast(k[graded_index<2>(a, 0, 0)]), t = Vector{};
#pragma GCC unroll 8
          for (unsigned int b = 1; b <= degree - a; ++b)
            {
              const double c = k[graded_index<2>(a, b, 0)];
              s += c * p.v[1][b];
              t += c * p.g[1][b];
            }
          rows[0] += s * p.v[0][a];
          rows[1] += s * p.g[0][a];
          rows[2] += t * p.v[0][a];
        }
      else
        {
          Vector u = Vector{}, uy = Vector{}, uz = Vector{};
#pragma GCC unroll 8
          for (unsigned int b = 0; b <= degree - a; ++b)
            {
              Vector s = broadcast(k[graded_index<3>(a, b, 0)]), t = Vector{};
#pragma GCC unroll 8
              for (unsigned int c = 1; c <= degree - a - b; ++c)
                {
                  const double e = k[graded_index<3>(a, b, c)];
                  s += e * p.v[dim - 1][c];
                  t += e * p.g[dim - 1][c];
                }
              u += s * p.v[1][b];
              uy += s * p.g[1][b];
              uz += t * p.v[1][b];
            }
          rows[0] += u * p.v[0][a];
          rows[1] += u * p.g[0][a];
          rows[2] += uy * p.v[0][a];
          rows[dim] += uz * p.v[0][a];
        }
    }
}

// sums_i += rows[0] phi_i + sum_d rows[1 + d] dphi_i/dx_d.
template <int dim, unsigned int degree>
inline __attribute__((always_inline)) void
test_functions(const PointPolynomials<dim, degree> &p,
               const Vector                        *rows,
               double                              *sums)
{
  const auto add = [sums](const unsigned int i, const Vector value) {
    store(sums + i * lanes, load(sums + i * lanes) + value);
  };
#pragma GCC unroll 8
  for (unsigned int a = 0; a <= degree; ++a)
    {
      const Vector s = rows[0] * p.v[0][a] + rows[1] * p.g[0][a],
                   t = rows[2] * p.v[0][a];
      if constexpr (dim == 2)
        {
          add(graded_index<2>(a, 0, 0), s);
#pragma GCC unroll 8
          for (unsigned int b = 1; b <= degree - a; ++b)
            add(graded_index<2>(a, b, 0), s * p.v[1][b] + t * p.g[1][b]);
        }
      else
        {
          const Vector z = rows[dim] * p.v[0][a];
#pragma GCC unroll 8
          for (unsigned int b = 0; b <= degree - a; ++b)
            {
              const Vector sb = s * p.v[1][b] + t * p.g[1][b],
                           zb = z * p.v[1][b];
              add(graded_index<3>(a, b, 0), sb);
#pragma GCC unroll 8
              for (unsigned int c = 1; c <= degree - a - b; ++c)
                add(graded_index<3>(a, b, c),
                    sb * p.v[dim - 1][c] + zb * p.g[dim - 1][c]);
            }
        }
    }
}

// Polynomials of any degree and space at one vector of points.
template <int dim>
struct AnyPolynomials
{
  AnyPolynomials(const Space         &space,
                 const Box<dim>      &box,
                 const double *const *x,
                 const unsigned int   q)
    : space(space)
  {
    for (int d = 0; d < dim; ++d)
      Legendre::evaluate<Vector>(space.degree,
                                 (load(x[d] + q) - box.center[d]) *
                                   box.scale[d],
                                 v[d],
                                 g[d]);
  }

  // Factor r of function e: its value, or its derivative r - 1.
  Vector
  row(const unsigned char *e, const int r) const
  {
    Vector value = r == 1 ? g[0][e[0]] : v[0][e[0]];
    for (int d = 1; d < dim; ++d)
      value *= r == d + 1 ? g[d][e[d]] : v[d][e[d]];
    return value;
  }

  const Space &space;
  Vector v[dim][Legendre::max_degree + 1], g[dim][Legendre::max_degree + 1];
};

template <int dim>
inline void
sum_functions(const AnyPolynomials<dim> &p, const double *k, Vector *rows)
{
  for (int r = 0; r <= dim; ++r)
    rows[r] = Vector{};
  const unsigned char *e = p.space.exponents;
  for (unsigned int i = 0; i < p.space.n_functions; ++i, e += dim)
    for (int r = 0; r <= dim; ++r)
      rows[r] += k[i] * p.row(e, r);
}

template <int dim>
inline void
test_functions(const AnyPolynomials<dim> &p, const Vector *rows, double *sums)
{
  const unsigned char *e = p.space.exponents;
  for (unsigned int i = 0; i < p.space.n_functions; ++i, e += dim)
    {
      Vector value = load(sums + i * lanes);
      for (int r = 0; r <= dim; ++r)
        value += rows[r] * p.row(e, r);
      store(sums + i * lanes, value);
    }
}

// Factors of values and of each derivative that depend on the box.
template <int dim>
struct BoxFactors
{
  explicit BoxFactors(const Box<dim> &box)
  {
    factor[0] = 1.;
    for (int d = 0; d < dim; ++d)
      factor[0] *= box.value_scale[d];
    for (int d = 0; d < dim; ++d)
      factor[d + 1] = factor[0] * box.scale[d];
  }

  void
  apply(Vector *rows) const
  {
    for (int r = 0; r <= dim; ++r)
      rows[r] *= factor[r];
  }

  double factor[dim + 1];
};

// Applies the coefficients to the rows of the own function and of the
// neighbour's; the result are the rows against which test functions are
// integrated.
template <int dim>
inline __attribute__((always_inline)) void
apply_terms(const ProductTerms<dim> &terms,
            const unsigned int       q,
            const Vector             w,
            const Vector            *own,
            const double            *neighbor,
            const unsigned int       stride,
            Vector                  *result)
{
  const unsigned int t   = terms.varying ? q : 0;
  const auto         dot = [t](const double *const *b, const Vector *g) {
    Vector sum = load(b[0] + t) * g[0];
    for (int d = 1; d < dim; ++d)
      sum += load(b[d] + t) * g[d];
    return sum;
  };
  for (int r = 0; r <= dim; ++r)
    result[r] = Vector{};
  if (terms.c[0])
    result[0] = load(terms.c[0] + t) * own[0];
  if (terms.b[0][0])
    result[0] += dot(terms.b[0], own + 1);
  if (terms.beta[0][0])
    for (int d = 0; d < dim; ++d)
      result[d + 1] = load(terms.beta[0][d] + t) * own[0];
  if (terms.a[0])
    {
      if (terms.tensor)
        for (int d = 0; d < dim; ++d)
          result[d + 1] += dot(terms.a + d * dim, own + 1);
      else
        for (int d = 0; d < dim; ++d)
          result[d + 1] += load(terms.a[0] + t) * own[d + 1];
    }
  if (neighbor)
    {
      Vector other[dim + 1];
      for (int r = 0; r <= dim; ++r)
        other[r] = load(neighbor + r * stride + q);
      if (terms.c[1])
        result[0] += load(terms.c[1] + t) * other[0];
      if (terms.b[1][0])
        result[0] += dot(terms.b[1], other + 1);
      if (terms.beta[1][0])
        for (int d = 0; d < dim; ++d)
          result[d + 1] += load(terms.beta[1][d] + t) * other[0];
    }
  for (int r = 0; r <= dim; ++r)
    result[r] *= w;
}

template <int dim, unsigned int degree>
struct FixedPolynomials
{
  using Points = PointPolynomials<dim, degree>;
  static Points
  at(const Space &,
     const Box<dim>      &box,
     const double *const *x,
     const unsigned int   q)
  {
    return Points(box, x, q);
  }
};

template <int dim>
struct VariablePolynomials
{
  using Points = AnyPolynomials<dim>;
  static Points
  at(const Space         &space,
     const Box<dim>      &box,
     const double *const *x,
     const unsigned int   q)
  {
    return Points(space, box, x, q);
  }
};

template <int dim, typename Polynomials>
void
evaluate_function_of(const Space         &space,
                     const double *const *x,
                     const unsigned int   n,
                     const double        *coefficients,
                     double              *out,
                     const unsigned int   stride)
{
  const Box<dim>        box(space.box);
  const BoxFactors<dim> factors(box);
  for (unsigned int q = 0; q < n; q += lanes)
    {
      const auto points = Polynomials::at(space, box, x, q);
      Vector     rows[dim + 1];
      sum_functions(points, coefficients, rows);
      factors.apply(rows);
      for (int r = 0; r <= dim; ++r)
        store(out + r * stride + q, rows[r]);
    }
}

template <int dim, typename Polynomials>
void
add_product_of(const Space             &space,
               const double *const     *x,
               const double            *w,
               const unsigned int       n,
               const ProductTerms<dim> &terms,
               const double            *neighbor,
               const unsigned int       stride,
               const double            *coefficients,
               double                  *sums)
{
  const Box<dim>        box(space.box);
  const BoxFactors<dim> factors(box);
  for (unsigned int q = 0; q < n; q += lanes)
    {
      const auto points = Polynomials::at(space, box, x, q);
      Vector     rows[dim + 1], result[dim + 1];
      sum_functions(points, coefficients, rows);
      factors.apply(rows);
      apply_terms<dim>(terms, q, load(w + q), rows, neighbor, stride, result);
      factors.apply(result);
      test_functions(points, result, sums);
    }
}

// Degrees with kernels of their own.
constexpr unsigned int max_fixed_degree = 6;

template <int dim>
inline bool
has_fixed_kernel(const Space &space)
{
  return dim < 4 && !space.tensor_product && space.degree >= 1 &&
         space.degree <= max_fixed_degree;
}

template <int dim>
void
evaluate_function(const Space         &space,
                  const double *const *x,
                  const unsigned int   n,
                  const double        *coefficients,
                  double              *out,
                  const unsigned int   stride)
{
  if constexpr (dim < 4)
    if (has_fixed_kernel<dim>(space))
      {
        using Function = decltype(&evaluate_function<dim>);
        constexpr Function fixed[max_fixed_degree] = {
          evaluate_function_of<dim, FixedPolynomials<dim, 1>>,
          evaluate_function_of<dim, FixedPolynomials<dim, 2>>,
          evaluate_function_of<dim, FixedPolynomials<dim, 3>>,
          evaluate_function_of<dim, FixedPolynomials<dim, 4>>,
          evaluate_function_of<dim, FixedPolynomials<dim, 5>>,
          evaluate_function_of<dim, FixedPolynomials<dim, 6>>};
        return fixed[space.degree - 1](space, x, n, coefficients, out, stride);
      }
  evaluate_function_of<dim, VariablePolynomials<dim>>(
    space, x, n, coefficients, out, stride);
}

template <int dim>
void
add_product(const Space             &space,
            const double *const     *x,
            const double            *w,
            const unsigned int       n,
            const ProductTerms<dim> &terms,
            const double            *neighbor,
            const unsigned int       stride,
            const double            *coefficients,
            double                  *sums)
{
  if constexpr (dim < 4)
    if (has_fixed_kernel<dim>(space))
      {
        using Function = decltype(&add_product<dim>);
        constexpr Function fixed[max_fixed_degree] = {
          add_product_of<dim, FixedPolynomials<dim, 1>>,
          add_product_of<dim, FixedPolynomials<dim, 2>>,
          add_product_of<dim, FixedPolynomials<dim, 3>>,
          add_product_of<dim, FixedPolynomials<dim, 4>>,
          add_product_of<dim, FixedPolynomials<dim, 5>>,
          add_product_of<dim, FixedPolynomials<dim, 6>>};
        return fixed[space.degree - 1](
          space, x, w, n, terms, neighbor, stride, coefficients, sums);
      }
  add_product_of<dim, VariablePolynomials<dim>>(
    space, x, w, n, terms, neighbor, stride, coefficients, sums);
}

inline void
sum_lanes(const double *sums, const unsigned int n, double *result)
{
  for (unsigned int i = 0; i < n; ++i)
    result[i] = sum(load(sums + i * lanes));
}
