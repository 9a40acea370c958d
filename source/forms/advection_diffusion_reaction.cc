// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/point.h>

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/device_function.h>
#include <tessella/forms/penalty_terms.h>

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

#include "compiled_coefficients.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    template <int dim>
    Point<dim>
    point(const double *const *x, const unsigned int q)
    {
      Point<dim> p;
      for (unsigned int d = 0; d < dim; ++d)
        p[d] = x[d][q];
      return p;
    }

    template <int dim>
    std::string
    to_string(const double *const *x, const unsigned int q)
    {
      std::string text;
      for (unsigned int d = 0; d < dim; ++d)
        text += (d > 0 ? ", " : "") + std::to_string(x[d][q]);
      return text;
    }

    // Two lanes, which every processor of the usual architectures supports;
    // VectorizedArray has only one lane in many builds of deal.II.
    typedef double         Pair __attribute__((vector_size(16)));
    constexpr unsigned int width = 2;

    double
    load(double, const double *from)
    {
      return *from;
    }

    Pair
    load(Pair, const double *from)
    {
      return Pair{from[0], from[1]};
    }

    void
    store(const double v, double *to)
    {
      *to = v;
    }

    void
    store(const Pair v, double *to)
    {
      to[0] = v[0];
      to[1] = v[1];
    }

    template <typename Number>
    Number
    minimum(const Number a, const Number b)
    {
      return a < b ? a : b;
    }

    // Calls body(type, q) for all q < n: with a vector type and groups of width
    // points first, then with double for each remaining point.
    template <typename Body>
    void
    for_vectors(const unsigned int n, const Body &body)
    {
      unsigned int q = 0;
      for (; q + width <= n; q += width)
        body(Pair(), q);
      for (; q < n; ++q)
        body(double(), q);
    }

    // The sum of 0 * value is zero unless a value is not finite. Four
    // independent sums shorten the chain of dependent additions.
    bool
    all_finite(const double *values, const std::size_t n)
    {
      Pair        sum[4] = {};
      std::size_t q      = 0;
      for (; q + 4 * width <= n; q += 4 * width)
        for (unsigned int l = 0; l < 4; ++l)
          sum[l] += load(Pair(), values + q + l * width) * 0.;
      double total = 0.;
      for (; q < n; ++q)
        total += values[q] * 0.;
      for (const Pair &s : sum)
        total += s[0] + s[1];
      return total == 0.;
    }

    // Smallest of n > 0 values.
    double
    smallest(const double *values, const unsigned int n)
    {
      double       result = values[0];
      unsigned int q      = 0;
      if (n >= 4 * width)
        {
          Pair least[4];
          for (Pair &m : least)
            m = Pair{result, result};
          for (; q + 4 * width <= n; q += 4 * width)
            for (unsigned int l = 0; l < 4; ++l)
              least[l] =
                minimum(load(Pair(), values + q + l * width), least[l]);
          for (const Pair &m : least)
            result = std::min({result, m[0], m[1]});
        }
      for (; q < n; ++q)
        result = std::min(result, values[q]);
      return result;
    }

    template <int dim>
    void
    check_finite(const double        *values,
                 const double *const *x,
                 const unsigned int   n,
                 const char          *name)
    {
      if (!all_finite(values, n))
        for (unsigned int q = 0; q < n; ++q)
          AssertThrow(std::isfinite(values[q]),
                      ExcCoefficientNotFinite(name,
                                              to_string<dim>(x, q),
                                              values[q]));
    }

    // As above, for the dim^rank entries of each tensor.
    template <int rank, int dim>
    void
    check_finite(const std::vector<Tensor<rank, dim>> &values,
                 const double *const                  *x,
                 const char                           *name)
    {
      constexpr unsigned int n_entries = rank == 1 ? dim : dim * dim;
      const double *v = reinterpret_cast<const double *>(values.data());
      if (!all_finite(v, values.size() * n_entries))
        for (unsigned int q = 0; q < values.size(); ++q)
          for (unsigned int d = 0; d < n_entries; ++d)
            AssertThrow(std::isfinite(v[q * n_entries + d]),
                        ExcCoefficientNotFinite(name,
                                                to_string<dim>(x, q),
                                                v[q * n_entries + d]));
    }

    void
    check_constant(const double value, const std::string &name)
    {
      AssertThrow(std::isfinite(value),
                  ExcMessage("The " + name + " " + std::to_string(value) +
                             " is not a finite number."));
    }

    template <typename FunctionType>
    void
    check_components(const FunctionType *function,
                     const unsigned int  n_components,
                     const std::string  &name)
    {
      AssertThrow(function != nullptr,
                  ExcMessage("The function given as " + name +
                             " is a null pointer."));
      AssertThrow(function->n_components == n_components,
                  ExcMessage("The function given as " + name + " has " +
                             std::to_string(function->n_components) +
                             " components instead of " +
                             std::to_string(n_components) + "."));
    }

    // Gaussian elimination of the symmetric part; pivots may be negative within
    // rounding errors.
    template <int dim>
    void
    check_semidefinite(const Tensor<2, dim> &a)
    {
      double largest = 0.;
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int e = 0; e < dim; ++e)
          {
            check_constant(a[d][e], "entry of the diffusion tensor");
            largest = std::max(largest, std::abs(a[d][e]));
          }
      const double   tolerance = 1e-12 * largest;
      Tensor<2, dim> s         = 0.5 * (a + transpose(a));
      const auto     verify    = [](const bool good) {
        AssertThrow(good,
                    ExcMessage("The diffusion tensor is not positive "
                                      "semi-definite."));
      };
      for (unsigned int k = 0; k < dim; ++k)
        {
          verify(s[k][k] >= -tolerance);
          for (unsigned int d = k + 1; d < dim; ++d)
            if (s[k][k] > tolerance)
              for (unsigned int e = k + 1; e < dim; ++e)
                s[d][e] -= s[d][k] * s[k][e] / s[k][k];
            else
              verify(std::abs(s[d][k]) <= 1e-6 * largest);
        }
    }

    // Copies each tensor entry to an array of its own. Returns whether all
    // entries are finite, and the smallest diagonal entry or zero if none is
    // negative, in the same pass, while the values are in registers.
    template <int dim>
    bool
    take_tensors(const std::vector<Tensor<2, dim>> &tensors,
                 double *const                     *a,
                 double                            &smallest_diagonal)
    {
      constexpr unsigned int n = dim * dim;
      const double *from = reinterpret_cast<const double *>(tensors.data());
      double       *to[n];
      std::copy_n(a, n, to);
      Pair        sum[dim] = {}, least = {};
      std::size_t q = 0;
      for (; q + width <= tensors.size(); q += width)
        for (unsigned int d = 0; d < n; ++d)
          {
            const Pair v = {from[q * n + d], from[(q + 1) * n + d]};
            store(v, to[d] + q);
            sum[d % dim] += v * 0.;
            if (d % (dim + 1) == 0)
              least = minimum(v, least);
          }
      double total = 0.;
      for (const Pair &s : sum)
        total += s[0] + s[1];
      smallest_diagonal = std::min(least[0], least[1]);
      for (; q < tensors.size(); ++q)
        for (unsigned int d = 0; d < n; ++d)
          {
            to[d][q] = from[q * n + d];
            total += to[d][q] * 0.;
            if (d % (dim + 1) == 0)
              smallest_diagonal = std::min(smallest_diagonal, to[d][q]);
          }
      return total == 0.;
    }

    // Origin of a value for messages: the description by the function if it has
    // one, else @p otherwise.
    template <typename FunctionType>
    std::string
    origin(const FunctionType *function,
           const unsigned int  component,
           const std::string  &otherwise)
    {
      const auto *known = dynamic_cast<const DeviceFunction *>(function);
      return known != nullptr ? known->origin(component) : otherwise;
    }

    // Points of a batch as a vector of Point, which deal.II's functions
    // require. Each thread has one buffer, since a thread evaluates one batch
    // at a time. Several coefficients at the same points share the buffer while
    // an object of this class exists.
    template <int dim>
    class SharedPoints
    {
    public:
      SharedPoints()
      {
        buffer().shared = true;
        buffer().from   = nullptr;
      }

      SharedPoints(const SharedPoints &) = delete;

      ~SharedPoints()
      {
        buffer().shared = false;
        buffer().from   = nullptr;
      }

      static const std::vector<Point<dim>> &
      get(const double *const *x, const unsigned int n)
      {
        Buffer &b = buffer();
        if (b.shared && b.from == x[0] && b.points.size() == n)
          return b.points;
        b.points.resize(n);
        const double *coordinates[dim];
        std::copy_n(x, dim, coordinates);
        double *const to = n > 0 ? &b.points[0][0] : nullptr;
        for (unsigned int q = 0; q < n; ++q)
          for (unsigned int d = 0; d < dim; ++d)
            to[q * dim + d] = coordinates[d][q];
        b.from = x[0];
        return b.points;
      }

    private:
      struct Buffer
      {
        std::vector<Point<dim>> points;
        const double           *from   = nullptr; // x[0] of the points
        bool                    shared = false;
      };

      static Buffer &
      buffer()
      {
        static thread_local Buffer b;
        return b;
      }
    };

    template <int dim>
    const std::vector<Point<dim>> &
    as_points(const double *const *x, const unsigned int n)
    {
      return SharedPoints<dim>::get(x, n);
    }

    // A scalar coefficient: a constant, a function, or a value per cell.
    template <int dim>
    struct ScalarCoefficient
    {
      double                               constant = 0.;
      std::shared_ptr<const Function<dim>> function;
      // used instead of constant and function
      std::shared_ptr<const CellwiseCoefficient> cellwise;
      const char                                *name = "coefficient";

      void
      set(const double value)
      {
        check_constant(value, name);
        constant = value;
        function = nullptr;
        cellwise = nullptr;
      }

      void
      set(const std::shared_ptr<const Function<dim>> &f)
      {
        check_components(f.get(), 1, name);
        set(0.);
        function = f;
      }

      void
      set(const CellwiseCoefficient &values)
      {
        set(0.);
        cellwise = std::make_shared<const CellwiseCoefficient>(values);
      }

      bool
      present() const
      {
        return !is_constant() || constant != 0.;
      }

      bool
      is_constant() const
      {
        return function == nullptr && cellwise == nullptr;
      }

      void
      evaluate(const PointBatch<dim> &points, double *values) const
      {
        if (cellwise != nullptr)
          cellwise->evaluate(points.n_points,
                             points.subcell,
                             points.material,
                             values);
        else
          evaluate(points.x, points.n_points, values);
      }

      // Must not be called for values per cell.
      void
      evaluate(const double *const *x,
               const unsigned int   n,
               double              *values,
               const unsigned int   component = 0) const
      {
        if (function == nullptr)
          {
            std::fill(values, values + n, constant);
            return;
          }
        static thread_local std::vector<double> result;
        result.resize(n);
        function->value_list(as_points<dim>(x, n), result, component);
        std::copy(result.begin(), result.end(), values);
        check_finite<dim>(values, x, n, name);
      }
    };

    // A vector-valued coefficient: constant, Function with dim components, or
    // TensorFunction.
    template <int dim>
    struct VectorCoefficient
    {
      Tensor<1, dim>                                constant;
      std::shared_ptr<const Function<dim>>          function;
      std::shared_ptr<const TensorFunction<1, dim>> tensor_function;
      const char                                   *name = "advection";

      bool
      variable() const
      {
        return function != nullptr || tensor_function != nullptr;
      }

      bool
      present() const
      {
        return variable() || constant.norm_square() != 0.;
      }

      void
      evaluate(const double *const *x,
               const unsigned int   n,
               double *const       *values) const
      {
        if (tensor_function != nullptr)
          {
            static thread_local std::vector<Tensor<1, dim>> result;
            result.resize(n);
            tensor_function->value_list(as_points<dim>(x, n), result);
            check_finite<1, dim>(result, x, name);
            for (unsigned int q = 0; q < n; ++q)
              for (unsigned int d = 0; d < dim; ++d)
                values[d][q] = result[q][d];
          }
        else if (function != nullptr)
          {
            static thread_local std::vector<double> result;
            result.resize(n);
            const std::vector<Point<dim>> &points = as_points<dim>(x, n);
            for (unsigned int d = 0; d < dim; ++d)
              {
                function->value_list(points, result, d);
                check_finite<dim>(result.data(), x, n, name);
                std::copy(result.begin(), result.end(), values[d]);
              }
          }
        else
          for (unsigned int d = 0; d < dim; ++d)
            std::fill(values[d], values[d] + n, constant[d]);
      }
    };

    // Writes coefficients and boundary conditions as source code.
    template <int dim>
    class CodeWriter
    {
    public:
      using Entry = internal::CoefficientCode::Entry;

      explicit CodeWriter(internal::CoefficientCode &code)
        : code(code)
      {}

      // The last coefficient without code, and the reason; empty if all
      // coefficients have code.
      std::string problem;

      static Entry
      literal(const double value)
      {
        return Entry{"return " + number(value) + ";", nullptr, 0};
      }

      // Entry of a Function or TensorFunction.
      template <typename FunctionType>
      Entry
      entry(const std::shared_ptr<const FunctionType> &function,
            const std::string                         &name,
            const unsigned int                         component)
      {
        const auto *f = dynamic_cast<const DeviceFunction *>(function.get());
        if (f == nullptr)
          {
            problem = "the " + name + " is a function without device code";
            return Entry();
          }
        return Entry{f->device_code(component), f, component};
      }

      // Appends the product of a coefficient that is present and a factor,
      // which must be 1 for constants and functions.
      void
      add(const ScalarCoefficient<dim> &c,
          std::vector<Entry>           &to,
          const double                  factor = 1.)
      {
        if (!c.present())
          return;
        if (c.function != nullptr)
          to.push_back(entry(c.function, c.name, 0));
        else if (c.cellwise == nullptr)
          to.push_back(literal(c.constant));
        else if (c.cellwise->subcell_values() != nullptr)
          to.push_back({"return " + number(factor) + " * p.cell_value[" +
                          std::to_string(index(c.cellwise->subcell_values())) +
                          "];",
                        nullptr,
                        0});
        else
          {
            Entry result = {"switch (p.material) {", nullptr, 0};
            for (const auto &value : c.cellwise->material_values())
              result.code += " case " + std::to_string(value.first) + ": " +
                             literal(factor * value.second).code;
            result.code += " } return nan(\"\");";
            to.push_back(result);
          }
      }

      // Sets the condition with the given boundary id.
      void
      add(const int id, const BoundaryCondition<dim> &from)
      {
        internal::CoefficientCode::Condition &to = code.conditions[id];
        to.type                                  = from.type;
        if (from.value != nullptr)
          to.value = entry(from.value, "boundary value", 0);
        if (from.type == BoundaryType::robin &&
            from.robin_coefficient != nullptr)
          to.robin_coefficient =
            entry(from.robin_coefficient, "Robin coefficient", 0);
        if (from.type != BoundaryType::dirichlet && from.flux != nullptr)
          for (unsigned int d = 0; d < dim; ++d)
            to.flux.push_back(entry(from.flux, "boundary flux", d));
      }

    private:
      static std::string
      number(const double value)
      {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text << std::hexfloat << value;
        return text.str();
      }

      // Position of a vector of values per sub-cell in the list of these
      // vectors. A vector is listed once, even if several entries of a tensor
      // use it.
      std::size_t
      index(const std::shared_ptr<const std::vector<double>> &values)
      {
        auto      &list = code.cell_values;
        const auto it   = std::find(list.begin(), list.end(), values);
        const auto i    = it - list.begin();
        if (it == list.end())
          list.push_back(values);
        return i;
      }

      internal::CoefficientCode &code;
    };
  } // namespace



  template <int dim>
  struct AdvectionDiffusionReaction<dim>::Implementation
  {
    // Diffusion: a scalar, a constant tensor or a tensor function. Values per
    // cell may be multiplied by the constant tensor.
    DiffusionType          diffusion_type = DiffusionType::none;
    ScalarCoefficient<dim> scalar_diffusion;
    Tensor<2, dim>         constant_tensor;
    std::shared_ptr<const TensorFunction<2, dim>> tensor_function;

    VectorCoefficient<dim> advection;
    ScalarCoefficient<dim> reaction, source;

    std::map<types::boundary_id, BoundaryCondition<dim>> conditions;
    BoundaryCondition<dim>                               default_condition;

    double theta             = 1.;
    int    coefficient_order = -1;
    bool   compile           = true;
    // reason why the last device_coefficients() returned a null pointer
    std::string why_not_on_device;

    // Source code of all coefficients and data. Returns false and sets
    // why_not_on_device if one of them has no code.
    bool
    make_code(internal::CoefficientCode &code)
    {
      CodeWriter<dim> writer(code);
      if (diffusion_type == DiffusionType::isotropic)
        writer.add(scalar_diffusion, code.diffusion);
      else if (diffusion_type == DiffusionType::tensor)
        {
          for (unsigned int d = 0; d < dim * dim; ++d)
            if (scalar_diffusion.cellwise != nullptr)
              writer.add(scalar_diffusion,
                         code.diffusion,
                         constant_tensor[d / dim][d % dim]);
            else
              code.diffusion.push_back(
                tensor_function != nullptr
                  ? writer.entry(tensor_function, "diffusion tensor", d)
                  : writer.literal(constant_tensor[d / dim][d % dim]));
        }
      if (advection.present())
        for (unsigned int d = 0; d < dim; ++d)
          code.advection.push_back(
            advection.tensor_function != nullptr
              ? writer.entry(advection.tensor_function, "advection", d)
            : advection.function != nullptr
              ? writer.entry(advection.function, "advection", d)
              : writer.literal(advection.constant[d]));
      writer.add(reaction, code.reaction);
      writer.add(source, code.source);
      for (const auto &condition : conditions)
        writer.add(static_cast<int>(condition.first), condition.second);
      writer.add(-1, default_condition);
      if (!writer.problem.empty())
        why_not_on_device = writer.problem;
      return writer.problem.empty();
    }

    bool
    constant() const
    {
      return tensor_function == nullptr && scalar_diffusion.is_constant() &&
             !advection.variable() && reaction.is_constant();
    }

    // Whether all coefficients are constant within each cell.
    bool
    constant_on_cells() const
    {
      return tensor_function == nullptr &&
             scalar_diffusion.function == nullptr && !advection.variable() &&
             reaction.function == nullptr;
    }

    // a: one array (isotropic) or dim*dim (tensor)
    void
    evaluate_diffusion(const PointBatch<dim> &points, double *const *a) const
    {
      const double *const *x = points.x;
      const unsigned int   n = points.n_points;
      if (diffusion_type == DiffusionType::isotropic)
        {
          scalar_diffusion.evaluate(points, a[0]);
          if (smallest(a[0], n) < 0.)
            for (unsigned int q = 0; q < n; ++q)
              AssertThrow(
                a[0][q] >= 0.,
                ExcNegativeDiffusion(
                  to_string<dim>(x, q),
                  a[0][q],
                  origin(scalar_diffusion.function.get(), 0, "its value")));
        }
      else if (diffusion_type == DiffusionType::tensor)
        {
          double smallest_diagonal = 0.;
          if (tensor_function != nullptr)
            {
              static thread_local std::vector<Tensor<2, dim>> result;
              result.resize(n);
              tensor_function->value_list(as_points<dim>(x, n), result);
              if (!take_tensors(result, a, smallest_diagonal))
                check_finite<2, dim>(result, x, "diffusion tensor");
            }
          else
            for (unsigned int d = 0; d < dim; ++d)
              for (unsigned int e = 0; e < dim; ++e)
                std::fill(a[d * dim + e],
                          a[d * dim + e] + n,
                          constant_tensor[d][e]);
          if (scalar_diffusion.cellwise != nullptr)
            {
              static thread_local std::vector<double> factor;
              factor.resize(n);
              scalar_diffusion.evaluate(points, factor.data());
              for (unsigned int d = 0; d < dim * dim; ++d)
                for (unsigned int q = 0; q < n; ++q)
                  a[d][q] *= factor[q];
            }
          if (tensor_function == nullptr)
            for (unsigned int d = 0; d < dim; ++d)
              smallest_diagonal =
                std::min(smallest_diagonal, smallest(a[d * dim + d], n));
          if (smallest_diagonal < 0.)
            for (unsigned int d = 0; d < dim; ++d)
              for (unsigned int q = 0; q < n; ++q)
                AssertThrow(a[d * dim + d][q] >= 0.,
                            ExcNegativeDiffusion(to_string<dim>(x, q),
                                                 a[d * dim + d][q],
                                                 origin(tensor_function.get(),
                                                        d * dim + d,
                                                        "a diagonal entry")));
        }
    }

    const BoundaryCondition<dim> &
    condition(const types::boundary_id id) const
    {
      const auto it = conditions.find(id);
      return it == conditions.end() ? default_condition : it->second;
    }

    void
    evaluate_boundary_data(const FacetPointBatch<dim> &points,
                           double                     *g,
                           double                     *alpha) const
    {
      const unsigned int            n = points.n_points;
      const BoundaryCondition<dim> &condition =
        this->condition(points.boundary_id);
      ScalarCoefficient<dim> value, robin;
      value.name     = "boundary value";
      value.function = condition.value;
      robin.name     = "Robin coefficient";
      robin.function = condition.type == BoundaryType::robin
                         ? condition.robin_coefficient
                         : nullptr;
      value.evaluate(points.x, n, g);
      if (condition.flux != nullptr &&
          condition.type != BoundaryType::dirichlet)
        {
          static thread_local std::vector<double> memory;
          memory.resize(dim * n);
          double *components[dim];
          for (unsigned int d = 0; d < dim; ++d)
            components[d] = memory.data() + d * n;
          VectorCoefficient<dim> flux;
          flux.name     = "boundary flux";
          flux.function = condition.flux;
          flux.evaluate(points.x, n, components);
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int q = 0; q < n; ++q)
              g[q] += components[d][q] * points.normal[d][q];
        }
      // Evaluates to zero without a Robin coefficient.
      robin.evaluate(points.x, n, alpha);
    }
  };



  namespace
  {
    // Arrays for the coefficients at facet points, one set per thread.
    template <int dim>
    struct FacetScratch
    {
      std::vector<double> memory;
      unsigned int        n = 0;
      double             *a[dim * dim], *b[dim], *conormal[dim], *g, *alpha;

      void
      reinit(const unsigned int n_points)
      {
        n = n_points;
        memory.resize((dim * dim + 2 * dim + 2) * n);
        double *p = memory.data();
        for (double *&pointer : a)
          pointer = p, p += n;
        for (double *&pointer : b)
          pointer = p, p += n;
        for (double *&pointer : conormal)
          pointer = p, p += n;
        g     = p;
        alpha = p + n;
      }

      // conormal = a n
      void
      compute_conormal(const DiffusionType type, const double *const *normal)
      {
        for (unsigned int d = 0; d < dim; ++d)
          if (type == DiffusionType::isotropic)
            for (unsigned int q = 0; q < n; ++q)
              conormal[d][q] = a[0][q] * normal[d][q];
          else
            {
              const double *row[dim], *n_e[dim];
              std::copy_n(a + d * dim, dim, row);
              std::copy_n(normal, dim, n_e);
              double *const result = conormal[d];
              for_vectors(n, [&](const auto type, const unsigned int q) {
                auto sum = load(type, row[0] + q) * load(type, n_e[0] + q);
                for (unsigned int e = 1; e < dim; ++e)
                  sum += load(type, row[e] + q) * load(type, n_e[e] + q);
                store(sum, result + q);
              });
            }
      }
    };

    template <int dim>
    FacetScratch<dim> &
    facet_scratch(const unsigned int n_points)
    {
      static thread_local FacetScratch<dim> scratch;
      scratch.reinit(n_points);
      return scratch;
    }
  } // namespace



  template <int dim>
  AdvectionDiffusionReaction<dim>::AdvectionDiffusionReaction()
    : data(std::make_unique<Implementation>())
  {
    data->scalar_diffusion.name = "diffusion coefficient";
    data->reaction.name         = "reaction coefficient";
    data->source.name           = "right-hand side";
  }



  template <int dim>
  AdvectionDiffusionReaction<dim>::AdvectionDiffusionReaction(
    const AdvectionDiffusionReaction &form)
    : Form<dim>(form)
    , data(std::make_unique<Implementation>(*form.data))
  {}



  template <int dim>
  AdvectionDiffusionReaction<dim> &
  AdvectionDiffusionReaction<dim>::operator=(
    const AdvectionDiffusionReaction &form)
  {
    *data = *form.data;
    return *this;
  }



  template <int dim>
  AdvectionDiffusionReaction<dim>::~AdvectionDiffusionReaction() = default;



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const double a)
  {
    AssertThrow(a >= 0. && std::isfinite(a),
                ExcMessage("The diffusion coefficient " + std::to_string(a) +
                           " is not a finite non-negative number."));
    data->scalar_diffusion.set(a);
    data->tensor_function = nullptr;
    data->diffusion_type =
      a == 0. ? DiffusionType::none : DiffusionType::isotropic;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const Tensor<2, dim> &a)
  {
    check_semidefinite(a);
    set_diffusion(0.);
    data->constant_tensor = a;
    data->diffusion_type =
      a.norm_square() == 0. ? DiffusionType::none : DiffusionType::tensor;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(
    const std::shared_ptr<const Function<dim>> &a)
  {
    data->scalar_diffusion.set(a);
    data->tensor_function = nullptr;
    data->diffusion_type  = DiffusionType::isotropic;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(
    const std::shared_ptr<const TensorFunction<2, dim>> &a)
  {
    AssertThrow(a != nullptr,
                ExcMessage("The function given as diffusion tensor is a null "
                           "pointer."));
    set_diffusion(0.);
    data->tensor_function = a;
    data->diffusion_type  = DiffusionType::tensor;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const CellwiseCoefficient &a)
  {
    data->scalar_diffusion.set(a);
    data->tensor_function = nullptr;
    data->diffusion_type  = DiffusionType::isotropic;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const CellwiseCoefficient &a,
                                                 const Tensor<2, dim> &tensor)
  {
    check_semidefinite(tensor);
    set_diffusion(a);
    data->constant_tensor = tensor;
    data->diffusion_type  = DiffusionType::tensor;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_advection(const Tensor<1, dim> &b)
  {
    for (unsigned int d = 0; d < dim; ++d)
      check_constant(b[d], "component of the advection field");
    data->advection          = VectorCoefficient<dim>();
    data->advection.constant = b;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_advection(
    const std::shared_ptr<const Function<dim>> &b)
  {
    check_components(b.get(), dim, "advection field");
    data->advection          = VectorCoefficient<dim>();
    data->advection.function = b;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_advection(
    const std::shared_ptr<const TensorFunction<1, dim>> &b)
  {
    AssertThrow(b != nullptr,
                ExcMessage("The function given as advection field is a null "
                           "pointer."));
    data->advection                 = VectorCoefficient<dim>();
    data->advection.tensor_function = b;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_reaction(const double c)
  {
    data->reaction.set(c);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_reaction(
    const std::shared_ptr<const Function<dim>> &c)
  {
    data->reaction.set(c);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_reaction(const CellwiseCoefficient &c)
  {
    data->reaction.set(c);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_source(const double f)
  {
    data->source.set(f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_source(
    const std::shared_ptr<const Function<dim>> &f)
  {
    data->source.set(f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_source(const CellwiseCoefficient &f)
  {
    data->source.set(f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_boundary_condition(
    const types::boundary_id id, const BoundaryCondition<dim> &condition)
  {
    data->conditions[id] = condition;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_default_boundary_condition(
    const BoundaryCondition<dim> &condition)
  {
    data->default_condition = condition;
  }



  template <int dim>
  const BoundaryCondition<dim> &
  AdvectionDiffusionReaction<dim>::boundary_condition(
    const types::boundary_id id) const
  {
    return data->condition(id);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_theta(const double theta)
  {
    data->theta = theta;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_coefficient_order(
    const unsigned int order)
  {
    data->coefficient_order = order;
  }



  template <int dim>
  bool
  AdvectionDiffusionReaction<dim>::is_constant_on_cells() const
  {
    return data->constant_on_cells();
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_run_time_compilation(const bool compile)
  {
    data->compile = compile;
  }



  template <int dim>
  std::shared_ptr<const DeviceCoefficients<dim>>
  AdvectionDiffusionReaction<dim>::device_coefficients() const
  {
    data->why_not_on_device.clear();
    if (!data->compile)
      {
        data->why_not_on_device = "run-time compilation is switched off";
        return nullptr;
      }
    // Constant coefficients leave little work for the host.
    if (data->constant() && data->source.is_constant())
      return nullptr;
    internal::CoefficientCode code;
    if (data->make_code(code))
      return internal::compile_coefficients<dim>(
        code,
        data->theta,
        device_time(),
        std::make_shared<const Implementation>(*data),
        data->why_not_on_device);
    return nullptr;
  }



  template <int dim>
  std::string
  AdvectionDiffusionReaction<dim>::why_not_on_device() const
  {
    return data->why_not_on_device;
  }



  template <int dim>
  VolumeStructure
  AdvectionDiffusionReaction<dim>::volume_structure() const
  {
    VolumeStructure structure;
    structure.diffusion  = data->diffusion_type;
    structure.b          = data->advection.present();
    structure.c          = data->reaction.present();
    structure.f          = data->source.present();
    structure.constant_f = data->source.is_constant();
    // The tensor is used as the caller passed it, so it may be unsymmetric.
    structure.symmetric = !structure.b && data->theta == 1. &&
                          data->diffusion_type != DiffusionType::tensor;
    structure.constant = data->constant();
    return structure;
  }



  template <int dim>
  FacetStructure
  AdvectionDiffusionReaction<dim>::facet_structure() const
  {
    FacetStructure structure;
    const bool     diffusion = data->diffusion_type != DiffusionType::none;
    structure.b              = diffusion;
    structure.beta           = diffusion && data->theta != 0.;
    structure.penalty        = diffusion;
    structure.facets         = diffusion || data->advection.present();
    structure.mirrored       = true;
    // Values per cell jump across facets.
    structure.continuous = data->scalar_diffusion.cellwise == nullptr;
    return structure;
  }



  template <int dim>
  unsigned int
  AdvectionDiffusionReaction<dim>::coefficient_order() const
  {
    if (data->coefficient_order >= 0)
      return data->coefficient_order;
    return data->constant_on_cells() ? 0 : 2;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_diffusion(
    const PointBatch<dim> &points, double *const *a) const
  {
    data->evaluate_diffusion(points, a);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_volume(
    const PointBatch<dim> &points, VolumeBlocks<dim> &blocks) const
  {
    const SharedPoints<dim> shared;
    if (blocks.a[0] != nullptr)
      data->evaluate_diffusion(points, blocks.a);
    if (blocks.b[0] != nullptr)
      data->advection.evaluate(points.x, points.n_points, blocks.b);
    if (blocks.c != nullptr)
      data->reaction.evaluate(points, blocks.c);
    if (blocks.f != nullptr)
      data->source.evaluate(points, blocks.f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_interior_facets(
    const FacetPointBatch<dim> &points, FacetBlocks<dim> &blocks) const
  {
    evaluate_facets(points, blocks, nullptr);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_both_sides(
    const FacetPointBatch<dim> &points,
    FacetBlocks<dim>           &own,
    FacetBlocks<dim>           &neighbor) const
  {
    evaluate_facets(points, own, &neighbor);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_facets(
    const FacetPointBatch<dim> &points,
    FacetBlocks<dim>           &own,
    FacetBlocks<dim>           *neighbor) const
  {
    const SharedPoints<dim> shared;
    const unsigned int      n       = points.n_points;
    FacetScratch<dim>      &scratch = facet_scratch<dim>(n);
    // The view of the neighbour differs in the sign of the normal and in the
    // index of its own side.
    const unsigned int n_views  = neighbor != nullptr ? 2 : 1;
    FacetBlocks<dim>  *views[2] = {&own, neighbor};

    for (unsigned int view = 0; view < n_views; ++view)
      if (data->diffusion_type != DiffusionType::none)
        std::copy(points.sigma, points.sigma + n, views[view]->c[0]);
      else
        std::fill(views[view]->c[0], views[view]->c[0] + n, 0.);

    if (data->diffusion_type != DiffusionType::none)
      for (unsigned int side = 0; side < 2; ++side)
        {
          // Except on periodic boundaries, both sides have the same point,
          // though not necessarily the same cell.
          if (side == 0 || points.neighbor_x[0] != points.x[0] ||
              data->scalar_diffusion.cellwise != nullptr)
            {
              PointBatch<dim> here = points;
              if (side == 1)
                {
                  std::copy(points.neighbor_x, points.neighbor_x + dim, here.x);
                  here.subcell  = points.neighbor_subcell;
                  here.material = points.neighbor_material;
                }
              data->evaluate_diffusion(here, scratch.a);
              scratch.compute_conormal(data->diffusion_type, points.normal);
            }
          for (unsigned int view = 0; view < n_views; ++view)
            {
              FacetBlocks<dim> &blocks = *views[view];
              const double      sign   = view == 0 ? 1. : -1.;
              const double      half   = PenaltyTerms::interior_b * sign;
              const double      beta   = half * data->theta;
              for (unsigned int d = 0; d < dim; ++d)
                if (double *const b = blocks.b[side ^ view][d])
                  {
                    const double *const conormal = scratch.conormal[d];
                    for_vectors(n, [=](const auto type, const unsigned int q) {
                      store(half * load(type, conormal + q), b + q);
                    });
                  }
              if (side == view && blocks.beta[0][0] != nullptr)
                for (unsigned int d = 0; d < dim; ++d)
                  for (unsigned int q = 0; q < n; ++q)
                    {
                      const double t       = beta * scratch.conormal[d][q];
                      blocks.beta[0][d][q] = t;
                      blocks.beta[1][d][q] = -t;
                    }
            }
        }

    if (data->advection.present())
      {
        data->advection.evaluate(points.x, n, scratch.b);
        const double *b[dim], *normal[dim];
        std::copy_n(scratch.b, dim, b);
        std::copy_n(points.normal, dim, normal);
        for (unsigned int view = 0; view < n_views; ++view)
          {
            double *const c    = views[view]->c[0];
            const double  sign = view == 0 ? 1. : -1.;
            for_vectors(n, [&](const auto type, const unsigned int q) {
              auto bn = load(type, b[0] + q) * load(type, normal[0] + q);
              for (unsigned int d = 1; d < dim; ++d)
                bn += load(type, b[d] + q) * load(type, normal[d] + q);
              // The update is PenaltyTerms::interior_c().
              bn *= sign;
              store(load(type, c + q) - minimum(bn, decltype(bn)()), c + q);
            });
          }
      }
    for (unsigned int view = 0; view < n_views; ++view)
      if (views[view]->c[1] != nullptr)
        for (unsigned int q = 0; q < n; ++q)
          views[view]->c[1][q] = -views[view]->c[0][q];
  }



  template <int dim>
  bool
  AdvectionDiffusionReaction<dim>::has_penalty_facets(double &theta) const
  {
    theta = data->theta;
    return true;
  }



  template <int dim>
  bool
  AdvectionDiffusionReaction<dim>::constant_interior_facets(
    ConstantFacetTerms<dim> &terms) const
  {
    if (!data->constant())
      return false;
    for (unsigned int d = 0; d < dim; ++d)
      {
        terms.b[d] = data->advection.constant[d];
        for (unsigned int e = 0; e < dim; ++e)
          terms.a[d * dim + e] =
            data->diffusion_type == DiffusionType::tensor
              ? data->constant_tensor[d][e]
            : d == e && data->diffusion_type == DiffusionType::isotropic
              ? data->scalar_diffusion.constant
              : 0.;
      }
    terms.theta = data->theta;
    return true;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_boundary_facets(
    const FacetPointBatch<dim> &points, FacetBlocks<dim> &blocks) const
  {
    const SharedPoints<dim>       shared;
    const unsigned int            n = points.n_points;
    const BoundaryCondition<dim> &condition =
      data->condition(points.boundary_id);
    FacetScratch<dim> &scratch   = facet_scratch<dim>(n);
    const bool         diffusion = data->diffusion_type != DiffusionType::none;
    const bool         beta      = blocks.beta[0][0] != nullptr;
    const bool         rhs       = blocks.r != nullptr;

    data->evaluate_boundary_data(points, scratch.g, scratch.alpha);

    if (diffusion)
      {
        data->evaluate_diffusion(points, scratch.a);
        scratch.compute_conormal(data->diffusion_type, points.normal);
      }
    const bool advection = data->advection.present();
    if (advection)
      data->advection.evaluate(points.x, n, scratch.b);

    for (unsigned int q = 0; q < n; ++q)
      {
        double bn = 0., b_max = 0.;
        if (advection)
          for (unsigned int d = 0; d < dim; ++d)
            {
              bn += scratch.b[d][q] * points.normal[d][q];
              b_max = std::max(b_max, std::abs(scratch.b[d][q]));
            }
        double nan = 0., a_max = 0.;
        if (diffusion)
          for (unsigned int d = 0; d < dim; ++d)
            {
              nan += scratch.conormal[d][q] * points.normal[d][q];
              a_max = std::max(a_max, std::abs(scratch.a[0][q]));
            }
        if (data->diffusion_type == DiffusionType::tensor)
          for (unsigned int d = 1; d < dim * dim; ++d)
            a_max = std::max(a_max, std::abs(scratch.a[d][q]));
        const double                      g = scratch.g[q];
        PenaltyTerms::BoundaryTerms       terms;
        const PenaltyTerms::BoundaryError error =
          PenaltyTerms::boundary(condition.type,
                                 nan,
                                 a_max,
                                 bn,
                                 b_max,
                                 points.sigma[q],
                                 g,
                                 scratch.alpha[q],
                                 terms);
        AssertThrow(error != PenaltyTerms::BoundaryError::negative_diffusion,
                    ExcNegativeDiffusion(to_string<dim>(points.x, q),
                                         nan,
                                         "n.a n"));
        AssertThrow(error != PenaltyTerms::BoundaryError::inflow,
                    ExcInflowOnNeumann(points.boundary_id,
                                       to_string<dim>(points.x, q),
                                       bn));

        blocks.c[0][q] = terms.c;
        if (diffusion)
          for (unsigned int d = 0; d < dim; ++d)
            {
              const double an   = terms.flux * scratch.conormal[d][q];
              blocks.b[0][d][q] = -an;
              if (beta)
                blocks.beta[0][d][q] = -data->theta * an;
              if (blocks.s[0] != nullptr)
                blocks.s[d][q] = -data->theta * an * g;
            }
        if (rhs)
          blocks.r[q] = terms.r;
      }
  }



  template <int dim>
  BoundaryType
  AdvectionDiffusionReaction<dim>::boundary_type(
    const unsigned int boundary_id) const
  {
    return data->condition(boundary_id).type;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_boundary_data(
    const FacetPointBatch<dim> &points, double *g, double *alpha) const
  {
    const SharedPoints<dim> shared;
    data->evaluate_boundary_data(points, g, alpha);
  }



  // --------------------------------------------------------------- MassForm

  template <int dim>
  MassForm<dim>::MassForm(const double factor)
    : factor(factor)
    , component(0)
  {}



  template <int dim>
  MassForm<dim>::MassForm(const double                                factor,
                          const std::shared_ptr<const Function<dim>> &source,
                          const unsigned int                          component)
    : factor(factor)
    , source(source)
    , component(component)
  {}



  template <int dim>
  VolumeStructure
  MassForm<dim>::volume_structure() const
  {
    VolumeStructure structure;
    structure.c         = true;
    structure.f         = source != nullptr;
    structure.symmetric = true;
    structure.constant  = true;
    return structure;
  }



  template <int dim>
  FacetStructure
  MassForm<dim>::facet_structure() const
  {
    FacetStructure structure;
    structure.facets = structure.b = structure.beta = structure.rhs =
      structure.penalty                             = false;
    return structure;
  }



  template <int dim>
  void
  MassForm<dim>::evaluate_diffusion(const PointBatch<dim> &,
                                    double *const *) const
  {}



  template <int dim>
  void
  MassForm<dim>::evaluate_volume(const PointBatch<dim> &points,
                                 VolumeBlocks<dim>     &blocks) const
  {
    if (blocks.c != nullptr)
      std::fill(blocks.c, blocks.c + points.n_points, factor);
    if (blocks.f != nullptr)
      {
        ScalarCoefficient<dim> f;
        f.function = source;
        f.name     = "right-hand side";
        f.evaluate(points.x, points.n_points, blocks.f, component);
      }
  }



  template <int dim>
  void
  MassForm<dim>::evaluate_interior_facets(const FacetPointBatch<dim> &,
                                          FacetBlocks<dim> &) const
  {}



  template <int dim>
  void
  MassForm<dim>::evaluate_boundary_facets(const FacetPointBatch<dim> &,
                                          FacetBlocks<dim> &) const
  {}



  template class AdvectionDiffusionReaction<2>;
  template class AdvectionDiffusionReaction<3>;
  template class AdvectionDiffusionReaction<4>;
  template class MassForm<2>;
  template class MassForm<3>;
} // namespace Tessella
