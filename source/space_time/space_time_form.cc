// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/point.h>
#include <deal.II/base/symmetric_tensor.h>

#include <tessella/forms/device_function.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// Adds the start of the slab to the time of points in its local time.
    template <int D>
    const std::vector<Point<D>> &
    shift(const std::vector<Point<D>> &points, const double start)
    {
      static thread_local std::vector<Point<D>> result;
      result = points;
      for (Point<D> &point : result)
        point[D - 1] += start;
      return result;
    }



    /// Function in the local time of a slab. Components beyond those of the
    /// given function are zero.
    template <int D>
    class ShiftedFunction : public Function<D>
    {
    public:
      ShiftedFunction(const std::shared_ptr<const Function<D>> &function,
                      const std::shared_ptr<const double>      &start,
                      const unsigned int                        n_components,
                      const double                              last = 0.)
        : Function<D>(n_components)
        , function(function)
        , start(start)
        , last(last)
      {}

      double
      value(const Point<D> &p, const unsigned int component) const override
      {
        if (component >= function->n_components)
          return last;
        Point<D> q = p;
        q[D - 1] += *start;
        return function->value(q, component);
      }

      void
      value_list(const std::vector<Point<D>> &points,
                 std::vector<double>         &values,
                 const unsigned int           component) const override
      {
        if (component >= function->n_components)
          std::fill(values.begin(), values.end(), last);
        else
          function->value_list(shift(points, *start), values, component);
      }

      // ---- for WithDeviceCode: component of the given function, or
      // invalid_index if it has none
      unsigned int
      given_component(const unsigned int component) const
      {
        return component < function->n_components ? component : invalid_index;
      }
      bool
      is_one(const unsigned int) const
      {
        return last == 1.;
      }

    private:
      const std::shared_ptr<const Function<D>> function;
      const std::shared_ptr<const double>      start;
      const double                             last;
    };



    /// diag(a, 0) for a scalar or tensor a in space.
    template <int D>
    class SpatialDiffusion : public TensorFunction<2, D>
    {
    public:
      SpatialDiffusion(const std::shared_ptr<const Function<D>> &function,
                       const std::shared_ptr<const double>      &start,
                       const bool                                tensor)
        : function(function)
        , start(start)
        , tensor(tensor)
      {}

      Tensor<2, D>
      value(const Point<D> &p) const override
      {
        std::vector<Tensor<2, D>> values(1);
        value_list(std::vector<Point<D>>(1, p), values);
        return values[0];
      }

      void
      value_list(const std::vector<Point<D>> &points,
                 std::vector<Tensor<2, D>>   &values) const override
      {
        static thread_local std::vector<double> numbers;
        numbers.resize(points.size());
        const std::vector<Point<D>> &here = shift(points, *start);
        std::fill(values.begin(), values.end(), Tensor<2, D>());
        constexpr unsigned int n = D - 1;
        for (unsigned int c = 0; c < (tensor ? n * n : 1); ++c)
          {
            function->value_list(here, numbers, c);
            for (unsigned int q = 0; q < points.size(); ++q)
              if (tensor)
                values[q][c / n][c % n] = numbers[q];
              else
                for (unsigned int d = 0; d < n; ++d)
                  values[q][d][d] = numbers[q];
          }
      }

      // ---- for WithDeviceCode
      unsigned int
      given_component(const unsigned int component) const
      {
        constexpr unsigned int n = D - 1;
        const unsigned int     d = component / D, e = component % D;
        return d == n || e == n || (!tensor && d != e) ? invalid_index
               : tensor                                ? d * n + e
                                                       : 0;
      }
      bool
      is_one(const unsigned int) const
      {
        return false;
      }

    private:
      const std::shared_ptr<const Function<D>> function;
      const std::shared_ptr<const double>      start;
      const bool                               tensor;
    };



    /// Device code (see DeviceFunction) of a function in the local time of a
    /// slab. PointData::t is the start of the slab.
    template <int D>
    std::string
    shifted_code(const std::string &code)
    {
      const std::string last = D == 3 ? "z" : "t";
      return "const double shifted = " + last + " + p.t;\n{\nconst double " +
             last + " = shifted;\n" +
             (D == 3 ? "const double t = shifted;\n(void)t;\n" : "") +
             "(void)" + last + ";\n" + code + "\n}";
    }



    /// ShiftedFunction or SpatialDiffusion of a function that has device code.
    template <int D, typename Base>
    class WithDeviceCode : public Base, public DeviceFunction
    {
    public:
      template <typename... Arguments>
      WithDeviceCode(const std::shared_ptr<const Function<D>> &function,
                     const std::shared_ptr<const double>      &start,
                     const Arguments &...arguments)
        : Base(function, start, arguments...)
        , function(function)
        , code(dynamic_cast<const DeviceFunction &>(*function))
        , start(start)
      {}

      std::string
      device_code(const unsigned int component) const override
      {
        const unsigned int c = this->given_component(component);
        if (c == invalid_index)
          return this->is_one(component) ? "return 1.;" : "return 0.;";
        return shifted_code<D>(code.device_code(c));
      }

      std::string
      origin(const unsigned int component) const override
      {
        const unsigned int c = this->given_component(component);
        return c == invalid_index ? "a constant" : code.origin(c);
      }

      [[noreturn]] void
      throw_not_finite(const unsigned int component,
                       const double       value,
                       const double      *x) const override
      {
        double y[D];
        std::copy(x, x + D, y);
        y[D - 1] += *start;
        code.throw_not_finite(this->given_component(component), value, y);
        std::abort(); // not reached
      }

    private:
      const std::shared_ptr<const Function<D>> function;
      const DeviceFunction                    &code;
      const std::shared_ptr<const double>      start;
    };



    /// Makes a Base, with device code if @p function has it.
    template <typename Base, int D, typename... Arguments>
    std::shared_ptr<const Base>
    make_shifted(const std::shared_ptr<const Function<D>> &function,
                 const std::shared_ptr<const double>      &start,
                 const Arguments &...arguments)
    {
      if (dynamic_cast<const DeviceFunction *>(function.get()) != nullptr)
        return std::make_shared<const WithDeviceCode<D, Base>>(function,
                                                               start,
                                                               arguments...);
      return std::make_shared<const Base>(function, start, arguments...);
    }



    /// diag(a, 0).
    template <int dim>
    Tensor<2, dim + 1>
    space_time_tensor(const Tensor<2, dim> &a)
    {
      Tensor<2, dim + 1> result;
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int e = 0; e < dim; ++e)
          result[d][e] = a[d][e];
      return result;
    }



    /// Copy of values per cell, which each slab expands to its elements; null
    /// for values per material, which need no expansion.
    std::shared_ptr<const CellwiseCoefficient>
    values_per_cell(const CellwiseCoefficient &coefficient)
    {
      return coefficient.material_values().empty()
               ? std::make_shared<const CellwiseCoefficient>(coefficient)
               : nullptr;
    }
  } // namespace



  template <int dim>
  SpaceTimeForm<dim>::SpaceTimeForm()
    : start(std::make_shared<double>(0.))
  {
    Tensor<1, dim + 1> time;
    time[dim] = 1.;
    Base::set_advection(time);
    // homogeneous inflow: matrix terms only
    Base::set_boundary_condition(SpaceTimeSlab<dim>::bottom_id,
                                 BoundaryCondition<dim + 1>());
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_diffusion(const double a)
  {
    // checks @p a
    Base::set_diffusion(a);
    Tensor<2, dim> tensor;
    for (unsigned int d = 0; d < dim; ++d)
      tensor[d][d] = a;
    set_diffusion(tensor);
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_diffusion(const Tensor<2, dim> &a)
  {
    cell_diffusion = nullptr;
    Base::set_diffusion(space_time_tensor(a));
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_diffusion(const CellwiseCoefficient &a)
  {
    set_diffusion(a, unit_symmetric_tensor<dim>());
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_diffusion(const CellwiseCoefficient &a,
                                    const Tensor<2, dim>      &tensor)
  {
    Base::set_diffusion(a, space_time_tensor(tensor));
    cell_diffusion = values_per_cell(a);
    cell_tensor    = tensor;
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_diffusion(const FunctionPointer &a)
  {
    AssertThrow(a != nullptr && a->n_components == 1,
                ExcMessage("A scalar diffusion coefficient has one "
                           "component."));
    cell_diffusion = nullptr;
    Base::set_diffusion(std::shared_ptr<const TensorFunction<2, dim + 1>>(
      make_shifted<SpatialDiffusion<dim + 1>>(a, start, false)));
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_diffusion_tensor(const FunctionPointer &a)
  {
    AssertThrow(a != nullptr && a->n_components == dim * dim,
                ExcMessage("A diffusion tensor has " +
                           std::to_string(dim * dim) + " components."));
    cell_diffusion = nullptr;
    Base::set_diffusion(std::shared_ptr<const TensorFunction<2, dim + 1>>(
      make_shifted<SpatialDiffusion<dim + 1>>(a, start, true)));
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_advection(const Tensor<1, dim> &w)
  {
    Tensor<1, dim + 1> b;
    for (unsigned int d = 0; d < dim; ++d)
      b[d] = w[d];
    b[dim] = 1.;
    Base::set_advection(b);
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_advection(const FunctionPointer &w)
  {
    AssertThrow(w != nullptr && w->n_components == dim,
                ExcMessage("The advection field must have as many components "
                           "as the space has dimensions."));
    Base::set_advection(FunctionPointer(
      make_shifted<ShiftedFunction<dim + 1>>(w, start, dim + 1, 1.)));
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_reaction(const CellwiseCoefficient &c)
  {
    Base::set_reaction(c);
    cell_reaction = values_per_cell(c);
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_source(const CellwiseCoefficient &f)
  {
    Base::set_source(f);
    cell_source = values_per_cell(f);
  }



  template <int dim>
  bool
  SpaceTimeForm<dim>::constant_interior_facets(
    ConstantFacetTerms<dim + 1> &terms) const
  {
    // The diffusion has no component in time.
    terms.boundary_id = SpaceTimeSlab<dim>::bottom_id;
    return Base::constant_interior_facets(terms);
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_boundary_condition(
    const types::boundary_id id, const BoundaryCondition<dim + 1> &condition)
  {
    AssertThrow(id != SpaceTimeSlab<dim>::bottom_id,
                ExcMessage("The bottom of a slab has no boundary condition: "
                           "give initial values to "
                           "SpaceTimeSlab::add_inflow()."));
    Base::set_boundary_condition(id, shifted(condition));
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_default_boundary_condition(
    const BoundaryCondition<dim + 1> &condition)
  {
    Base::set_default_boundary_condition(shifted(condition));
  }



  template <int dim>
  void
  SpaceTimeForm<dim>::set_slab(const SpaceTimeSlab<dim> &slab)
  {
    set_start(slab.start());
    if (cell_diffusion == nullptr && cell_reaction == nullptr &&
        cell_source == nullptr)
      return;
    const std::vector<unsigned int> origin = slab.subcell_origin();
    if (cell_diffusion != nullptr)
      Base::set_diffusion(cell_diffusion->on_parts(origin),
                          space_time_tensor(cell_tensor));
    if (cell_reaction != nullptr)
      Base::set_reaction(cell_reaction->on_parts(origin));
    if (cell_source != nullptr)
      Base::set_source(cell_source->on_parts(origin));
  }



  template <int dim>
  double
  SpaceTimeForm<dim>::device_time() const
  {
    return *start;
  }



  template <int dim>
  bool
  SpaceTimeForm<dim>::matrix_is_stationary() const
  {
    return declared_stationary || (this->is_constant_on_cells() && !has_robin);
  }



  template <int dim>
  typename SpaceTimeForm<dim>::FunctionPointer
  SpaceTimeForm<dim>::shifted(const FunctionPointer &function,
                              const unsigned int     n_components) const
  {
    if (function == nullptr)
      return nullptr;
    return make_shifted<ShiftedFunction<dim + 1>>(function,
                                                  start,
                                                  n_components,
                                                  0.);
  }



  template <int dim>
  BoundaryCondition<dim + 1>
  SpaceTimeForm<dim>::shifted(const BoundaryCondition<dim + 1> &condition)
  {
    AssertThrow(condition.flux == nullptr ||
                  condition.flux->n_components == dim,
                ExcMessage("The flux of a boundary condition must have as many"
                           " components as the space has dimensions."));
    BoundaryCondition<dim + 1> result = condition;
    result.value                      = shifted(condition.value, 1);
    result.robin_coefficient          = shifted(condition.robin_coefficient, 1);
    result.flux                       = shifted(condition.flux, dim + 1);
    has_robin = has_robin || condition.robin_coefficient != nullptr;
    return result;
  }



  template <int dim>
  double
  TimeDependentFunction<dim>::value(const Point<dim + 1> &p,
                                    const unsigned int    component) const
  {
    std::vector<double> values(1);
    value_list(std::vector<Point<dim + 1>>(1, p), values, component);
    return values[0];
  }



  template <int dim>
  void
  TimeDependentFunction<dim>::value_list(
    const std::vector<Point<dim + 1>> &points,
    std::vector<double>               &values,
    const unsigned int                 component) const
  {
    const std::lock_guard<std::mutex> lock(mutex);
    // Groups consecutive points of the same time.
    for (std::size_t begin = 0, end; begin < points.size(); begin = end)
      {
        present_points.clear();
        for (end = begin;
             end < points.size() && points[end][dim] == points[begin][dim];
             ++end)
          {
            Point<dim> x;
            for (unsigned int d = 0; d < dim; ++d)
              x[d] = points[end][d];
            present_points.push_back(x);
          }
        present_values.resize(end - begin);
        function->set_time(points[begin][dim]);
        function->value_list(present_points, present_values, component);
        std::copy(present_values.begin(),
                  present_values.end(),
                  values.begin() + begin);
      }
  }



  template class SpaceTimeForm<2>;
  template class SpaceTimeForm<3>;
  template class TimeDependentFunction<2>;
  template class TimeDependentFunction<3>;
} // namespace Tessella
