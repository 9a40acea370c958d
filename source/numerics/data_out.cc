// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>
#include <deal.II/base/utilities.h>

#include <deal.II/grid/reference_cell.h>
#include <deal.II/grid/tria.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/write_file.h>
#include <tessella/portable/geometry.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

#include "../base/collective.h"
#include "polynomial_derivatives.h"
#include "polytope_evaluation.h"
#include "polytope_outlines.h"
#include "same_polytopes.h"

namespace Tessella
{
  using namespace internal;
  using dealii::DataComponentInterpretation::component_is_part_of_vector;
  using dealii::DataComponentInterpretation::component_is_scalar;

  template <int dim>
  PolytopicDataOut<dim>::PolytopicDataOut(
    const AgglomerationHandler<dim> &handler)
    : handler(&handler)
  {}



  template <int dim>
  void
  PolytopicDataOut<dim>::add_data_vector(const ConstVectorView &vector,
                                         const std::string     &name)
  {
    const unsigned int n = handler->n_components();
    if (n == 1)
      add_data_vector(vector, std::vector<std::string>(1, name));
    else if (n == dim)
      add_data_vector(vector,
                      std::vector<std::string>(n, name),
                      std::vector<Interpretation>(n,
                                                  component_is_part_of_vector));
    else
      {
        std::vector<std::string> names;
        for (unsigned int c = 0; c < n; ++c)
          names.push_back(name + "_" + std::to_string(c));
        add_data_vector(vector, names);
      }
  }



  template <int dim>
  void
  PolytopicDataOut<dim>::add_data_vector(
    const ConstVectorView             &vector,
    const std::vector<std::string>    &names,
    const std::vector<Interpretation> &interpretation)
  {
    add_data_vector(*handler, vector, names, interpretation);
  }



  template <int dim>
  typename PolytopicDataOut<dim>::DofFunction
  PolytopicDataOut<dim>::make_function(const AgglomerationHandler<dim> &other,
                                       const ConstVectorView &vector) const
  {
    AssertThrow(have_same_polytopes(*handler, other),
                ExcUserInput("The handlers of one output have different "
                             "polytopes: agglomerate them alike."));
    DofFunction result;
    result.handler             = &other;
    const std::size_t   n_own  = other.n_locally_owned_dofs();
    const double *const values = vector.values(n_own, result.values);
    if (values != result.values.data())
      result.values.assign(values, values + n_own);
    return result;
  }



  template <int dim>
  void
  PolytopicDataOut<dim>::add_data_vector(
    const AgglomerationHandler<dim>   &other,
    const ConstVectorView             &vector,
    const std::vector<std::string>    &names,
    const std::vector<Interpretation> &interpretation)
  {
    const unsigned int n = other.n_components();
    AssertThrow(names.size() == n &&
                  (interpretation.empty() || interpretation.size() == n),
                dealii::ExcMessage(
                  "add_data_vector() needs one name, and if any one "
                  "interpretation, for each of the " +
                  std::to_string(n) + " components."));
    DofData data;
    data.functions.push_back(make_function(other, vector));
    data.names          = names;
    data.interpretation = interpretation;
    if (interpretation.empty())
      data.interpretation.assign(n, component_is_scalar);
    dof_data.push_back(std::move(data));
    patches.clear();
  }



  template <int dim>
  void
  PolytopicDataOut<dim>::add_data_vector(
    const ConstVectorView                &vector,
    const dealii::DataPostprocessor<dim> &postprocessor)
  {
    add_data_vector(std::vector<const AgglomerationHandler<dim> *>(1,
                                                                   &*handler),
                    vector,
                    postprocessor);
  }



  template <int dim>
  void
  PolytopicDataOut<dim>::add_data_vector(
    const std::vector<const AgglomerationHandler<dim> *> &handlers,
    const ConstVectorViews                               &vectors,
    const dealii::DataPostprocessor<dim>                 &postprocessor)
  {
    AssertThrow(!handlers.empty() && handlers.size() == vectors.size(),
                ExcUserInput("A postprocessor needs one vector for each of the "
                             "handlers, but there are " +
                             std::to_string(handlers.size()) +
                             " handlers and " + std::to_string(vectors.size()) +
                             " vectors."));
    AssertThrow((postprocessor.get_needed_update_flags() &
                 ~(dealii::update_values | dealii::update_gradients |
                   dealii::update_hessians |
                   dealii::update_quadrature_points)) == 0,
                ExcUserInput("A postprocessor may need values, gradients, "
                             "hessians and points; its update flags ask for "
                             "more, such as normal vectors."));
    DofData data;
    for (unsigned int f = 0; f < handlers.size(); ++f)
      data.functions.push_back(make_function(*handlers[f], vectors[f]));
    data.postprocessor  = &postprocessor;
    data.names          = postprocessor.get_names();
    data.interpretation = postprocessor.get_data_component_interpretation();
    AssertThrow(data.interpretation.size() == data.names.size(),
                ExcUserInput("A postprocessor returns " +
                             std::to_string(data.names.size()) +
                             " names, but " +
                             std::to_string(data.interpretation.size()) +
                             " interpretations; it must return one of each for "
                             "every quantity."));
    dof_data.push_back(std::move(data));
    patches.clear();
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicDataOut<dim>::add_polytope_data(const dealii::Vector<Number> &data,
                                           const std::string            &name)
  {
    AssertThrow(data.size() == handler->n_polytopes(),
                dealii::ExcMessage(
                  "add_polytope_data() needs one number per polytope, " +
                  std::to_string(handler->n_polytopes()) + ", but got " +
                  std::to_string(data.size()) + "."));
    polytope_data.emplace_back(data.begin(), data.end());
    polytope_data_names.push_back(name);
    patches.clear();
  }



  namespace
  {
    /// Nodes on a reference cell at which fields are evaluated, and the patches
    /// that they form.
    struct NodeSet
    {
      /// dim coordinates per node.
      std::vector<double> nodes;
      /// Nodes of each patch.
      std::vector<std::vector<unsigned int>> patches;
      /// DataOutBase::Patch::n_subdivisions
      unsigned int n_subdivisions = 1;
      bool         points_needed  = false;
    };

    template <int dim>
    NodeSet
    hypercube_nodes(const unsigned int n)
    {
      NodeSet            set;
      const unsigned int n_nodes = dealii::Utilities::pow(n + 1, dim);
      set.n_subdivisions         = n;
      set.patches.resize(1);
      for (unsigned int i = 0; i < n_nodes; ++i)
        {
          unsigned int rest = i;
          for (int d = 0; d < dim; ++d)
            {
              set.nodes.push_back(double(rest % (n + 1)) / n);
              rest /= n + 1;
            }
          set.patches[0].push_back(i);
        }
      return set;
    }

    /**
     * Divides the unit simplex into n^dim simplices. With y_1 = xi_1 + ... +
     * xi_dim, ..., y_dim = xi_dim, the unit simplex becomes {1 >= y_1 >= ... >=
     * y_dim >= 0}. This set is a union of simplices from the lattice of cubes
     * of size 1/n: each cube is cut into the dim! simplices that ascend from
     * its lower to its upper corner one coordinate at a time.
     */
    template <int dim>
    NodeSet
    simplex_nodes(const unsigned int n)
    {
      NodeSet                         set;
      std::vector<std::array<int, 3>> lattice;
      auto                            node = [&](const std::array<int, 3> &y) {
        const auto it = std::find(lattice.begin(), lattice.end(), y);
        if (it != lattice.end())
          return static_cast<unsigned int>(it - lattice.begin());
        lattice.push_back(y);
        for (int d = 0; d < dim; ++d)
          set.nodes.push_back((y[d] - (d + 1 < dim ? y[d + 1] : 0)) /
                              double(n));
        return static_cast<unsigned int>(lattice.size() - 1);
      };
      const int size = n;
      for (int m2 = 0; m2 < (dim == 3 ? size : 1); ++m2)
        for (int m1 = m2; m1 < size; ++m1)
          for (int m0 = m1; m0 < size; ++m0)
            {
              std::array<int, 3> axis = {{0, 1, 2}};
              do
                {
                  std::array<int, 3>              y       = {{m0, m1, m2}};
                  bool                            inside  = true;
                  int                             inverts = 0;
                  std::vector<std::array<int, 3>> corners(1, y);
                  for (int i = 0; i < dim; ++i)
                    {
                      ++y[axis[i]];
                      corners.push_back(y);
                      for (int d = 0; d + 1 < dim; ++d)
                        inside = inside && y[d] >= y[d + 1];
                      inside = inside && y[0] <= size;
                      for (int j = 0; j < i; ++j)
                        inverts += axis[j] > axis[i];
                    }
                  if (inside)
                    {
                      std::vector<unsigned int> patch;
                      for (const auto &corner : corners)
                        patch.push_back(node(corner));
                      if (inverts % 2 == 1)
                        std::swap(patch[dim - 1], patch[dim]);
                      set.patches.push_back(patch);
                    }
              } while (std::next_permutation(axis.begin(), axis.begin() + dim));
            }
      return set;
    }

    /// Nodes of one quadratic simplex: vertices, then midpoints of edges.
    template <int dim>
    NodeSet
    quadratic_simplex_nodes()
    {
      NodeSet set;
      auto    vertex = [](const int v, const int d) {
        return v == d + 1 ? 1. : 0.;
      };
      const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
      for (int v = 0; v <= dim; ++v)
        for (int d = 0; d < dim; ++d)
          set.nodes.push_back(vertex(v, d));
      for (int e = 0; e < (dim == 2 ? 3 : 6); ++e)
        for (int d = 0; d < dim; ++d)
          set.nodes.push_back(
            .5 * (vertex(edges[e][0], d) + vertex(edges[e][1], d)));
      set.patches.resize(1);
      for (unsigned int i = 0; i < set.nodes.size() / dim; ++i)
        set.patches[0].push_back(i);
      set.n_subdivisions = 2;
      set.points_needed  = true;
      return set;
    }

    template <int dim>
    NodeSet
    vertex_nodes(const Compatibility::ReferenceCell<dim> &cell)
    {
      NodeSet set;
      set.patches.resize(1);
      for (unsigned int v = 0; v < cell.n_vertices(); ++v)
        {
          const auto x = Compatibility::vertex<dim>(cell, v);
          for (int d = 0; d < dim; ++d)
            set.nodes.push_back(x[d]);
          set.patches[0].push_back(v);
        }
      return set;
    }
  } // namespace



  namespace
  {
    /// Nodes of all sub-cells of a mesh.
    template <int dim>
    class SubCellNodes
    {
    public:
      using ReferenceCell = Compatibility::ReferenceCell<dim>;

      /// @p quadratic: a simplex is one quadratic cell.
      SubCellNodes(const AgglomerationHandler<dim> &handler,
                   const unsigned int               n_subdivisions,
                   const bool                       quadratic)
        : handler(handler)
        , mesh(handler.polytopic_mesh())
        , hypercube(hypercube_nodes<dim>(n_subdivisions))
        , simplex(quadratic ? quadratic_simplex_nodes<dim>()
                            : simplex_nodes<dim>(n_subdivisions))
      {
        if constexpr (dim == 3)
          {
            pyramid = vertex_nodes<dim>(dealii::ReferenceCells::Pyramid);
            wedge   = vertex_nodes<dim>(dealii::ReferenceCells::Wedge);
          }
      }

      ReferenceCell
      reference_cell(const unsigned int s) const
      {
        switch (mesh.subcell_type[s])
          {
            case SubCellType::simplex:
              return dealii::ReferenceCells::get_simplex<dim>();
            case SubCellType::parallelepiped:
            case SubCellType::hypercube:
              return dealii::ReferenceCells::get_hypercube<dim>();
            default:
              return handler.active_cell(mesh.subcell_cell[s])
                ->reference_cell();
          }
      }

      const NodeSet &
      node_set(const ReferenceCell &cell) const
      {
        if (cell.is_hyper_cube())
          return hypercube;
        if (cell.is_simplex())
          return simplex;
        return cell.n_vertices() == 5 ? pyramid : wedge;
      }

      /// Computes the coordinates x[d][q] of the nodes of sub-cell @p s.
      void
      positions(const unsigned int                    s,
                std::array<std::vector<double>, dim> &x) const
      {
        const ReferenceCell cell    = reference_cell(s);
        const NodeSet      &set     = node_set(cell);
        const unsigned int  n_nodes = set.nodes.size() / dim;
        for (int d = 0; d < dim; ++d)
          x[d].resize(n_nodes);
        for (unsigned int q = 0; q < n_nodes; ++q)
          {
            double point[3] = {};
            map(s, cell, &set.nodes[q * dim], point);
            for (int d = 0; d < dim; ++d)
              x[d][q] = point[d];
          }
      }

    private:
      /// Maps the point @p xi of the reference cell to sub-cell @p s; @p point
      /// contains zeros.
      void
      map(const unsigned int   s,
          const ReferenceCell &cell,
          const double *const  xi,
          double (&point)[3]) const
      {
        const double *const v =
          &mesh.subcell_vertices[std::size_t(mesh.subcell_vertex_offset[s]) *
                                 dim];
        if (mesh.subcell_type[s] == SubCellType::tabulated)
          {
            dealii::Point<dim> unit;
            for (int d = 0; d < dim; ++d)
              unit[d] = xi[d];
            const dealii::Point<dim> real =
              handler.get_mapping().transform_unit_to_real_cell(
                handler.active_cell(mesh.subcell_cell[s]), unit);
            for (int d = 0; d < dim; ++d)
              point[d] = real[d];
          }
        else if (cell.is_hyper_cube())
          {
            double derivative[dim][dim];
            Geometry::multilinear_map<dim, dim>(v, xi, point, derivative);
          }
        else
          for (int d = 0; d < dim; ++d)
            {
              // Weighted vertices: the result is exact at the vertices
              // themselves.
              double first = 1.;
              for (int l = 0; l < dim; ++l)
                {
                  point[d] += xi[l] * v[(l + 1) * dim + d];
                  first -= xi[l];
                }
              point[d] += first * v[d];
            }
      }

      const AgglomerationHandler<dim> &handler;
      const PolytopicMesh<dim>        &mesh;
      const NodeSet                    hypercube, simplex;
      NodeSet                          pyramid, wedge;
    };
  } // namespace



  namespace
  {
    /// Derivatives of the polynomials of several handlers, for one thread.
    template <int dim>
    using DerivativesOfHandlers =
      std::map<const AgglomerationHandler<dim> *, PolynomialDerivatives<dim>>;

    /// Input of a postprocessor at the nodes of a sub-cell: values and, if they
    /// are needed, derivatives of all components of several functions.
    template <int dim>
    class PostprocessorInput
    {
    public:
      PostprocessorInput(const unsigned int        n_components,
                         const dealii::UpdateFlags flags,
                         const std::array<std::vector<double>, dim> &x)
        : n_nodes(x[0].size())
        , n_components(n_components)
        , x(x)
        , values(n_nodes * n_components)
        , unused(n_nodes)
      {
        if (flags & dealii::update_gradients)
          for (auto &g : gradient)
            g.resize(n_nodes * n_components);
        if (flags & dealii::update_hessians)
          for (auto &row : hessian)
            for (auto &h : row)
              h.resize(n_nodes * n_components);
      }

      /// Evaluates the function of one handler, with coefficients @p u on
      /// polytope @p k, whose first component is component @p first.
      void
      evaluate(const AgglomerationHandler<dim> &handler,
               const PolytopeEvaluator<dim>    &evaluator,
               PolynomialDerivatives<dim>      &derivatives,
               const unsigned int               k,
               const double                    *u,
               const unsigned int               first)
      {
        std::array<const double *, dim> points;
        for (int d = 0; d < dim; ++d)
          points[d] = x[d].data();
        const PolytopicDoFs &dofs = handler.polytopic_dofs();
        for (unsigned int c = 0; c < handler.n_components(); ++c)
          {
            const std::size_t   begin = (first + c) * n_nodes;
            const double *const u_c   = u + std::size_t(c) * dofs.n_basis[k];
            std::array<double *, dim> g;
            for (int d = 0; d < dim; ++d)
              g[d] = entries(gradient[d], begin);
            evaluator.evaluate(k,
                               u_c,
                               n_nodes,
                               points,
                               values.data() + begin,
                               gradient[0].empty() ? nullptr : &g);
            for (int i = 0; i < dim && !hessian[0][0].empty(); ++i)
              {
                derivatives.compute(
                  handler.polytopic_mesh(), dofs, k, u_c, i, derivative);
                for (int j = 0; j < dim; ++j)
                  g[j] = entries(hessian[i][j], begin);
                evaluator.evaluate(
                  k, derivative.data(), n_nodes, points, unused.data(), &g);
              }
          }
      }

      /// Calls the postprocessor.
      void
      call(const dealii::DataPostprocessor<dim> &postprocessor,
           std::vector<dealii::Vector<double>>  &result) const
      {
        const bool gradients = !gradient[0].empty(),
                   hessians  = !hessian[0][0].empty();
        if (n_components == 1)
          {
            dealii::DataPostprocessorInputs::Scalar<dim> input;
            set_points(input.evaluation_points);
            input.solution_values = values;
            for (std::size_t q = 0; q < n_nodes; ++q)
              {
                if (gradients)
                  input.solution_gradients.push_back(gradient_at(q));
                if (hessians)
                  input.solution_hessians.push_back(hessian_at(q));
              }
            postprocessor.evaluate_scalar_field(input, result);
            return;
          }
        dealii::DataPostprocessorInputs::Vector<dim> input;
        set_points(input.evaluation_points);
        for (std::size_t q = 0; q < n_nodes; ++q)
          {
            dealii::Vector<double>              value(n_components);
            std::vector<dealii::Tensor<1, dim>> of_gradient;
            std::vector<dealii::Tensor<2, dim>> of_hessian;
            for (unsigned int c = 0; c < n_components; ++c)
              {
                const std::size_t i = c * n_nodes + q;
                value[c]            = values[i];
                if (gradients)
                  of_gradient.push_back(gradient_at(i));
                if (hessians)
                  of_hessian.push_back(hessian_at(i));
              }
            input.solution_values.push_back(value);
            if (gradients)
              input.solution_gradients.push_back(of_gradient);
            if (hessians)
              input.solution_hessians.push_back(of_hessian);
          }
        postprocessor.evaluate_vector_field(input, result);
      }

    private:
      static double *
      entries(std::vector<double> &array, const std::size_t begin)
      {
        return array.empty() ? nullptr : array.data() + begin;
      }

      void
      set_points(std::vector<dealii::Point<dim>> &points) const
      {
        points.resize(n_nodes);
        for (std::size_t q = 0; q < n_nodes; ++q)
          for (int d = 0; d < dim; ++d)
            points[q][d] = x[d][q];
      }

      dealii::Tensor<1, dim>
      gradient_at(const std::size_t i) const
      {
        dealii::Tensor<1, dim> g;
        for (int d = 0; d < dim; ++d)
          g[d] = gradient[d][i];
        return g;
      }

      dealii::Tensor<2, dim>
      hessian_at(const std::size_t i) const
      {
        dealii::Tensor<2, dim> h;
        for (int d = 0; d < dim; ++d)
          for (int e = 0; e < dim; ++e)
            h[d][e] = hessian[d][e][i];
        return h;
      }

      const std::size_t                           n_nodes;
      const unsigned int                          n_components;
      const std::array<std::vector<double>, dim> &x;
      std::vector<double>                         values, unused, derivative;
      /// Empty unless they are needed.
      std::array<std::vector<double>, dim>                  gradient;
      std::array<std::array<std::vector<double>, dim>, dim> hessian;
    };
  } // namespace



  /// Evaluates the fields at the nodes of sub-cells and stores the patches.
  template <int dim>
  class PolytopicDataOut<dim>::PatchBuilder
  {
  public:
    PatchBuilder(PolytopicDataOut<dim>   &data_out,
                 const SubCellNodes<dim> &nodes)
      : data_out(data_out)
      , handler(*data_out.handler)
      , mesh(handler.polytopic_mesh())
      , dofs(handler.polytopic_dofs())
      , nodes(nodes)
      , color(color_polytopes(mesh))
    {
      // Sub-cells of owned polytopes come first.
      const unsigned int n_subcells =
        mesh.subcell_offset[mesh.n_owned_polytopes()];
      first_patch.assign(n_subcells + 1, 0);
      for (unsigned int s = 0; s < n_subcells; ++s)
        first_patch[s + 1] =
          first_patch[s] +
          nodes.node_set(nodes.reference_cell(s)).patches.size();
      n_rows = data_out.polytope_data.size() + 4;
      for (const DofData &data : data_out.dof_data)
        {
          n_rows += data.names.size();
          for (const DofFunction &function : data.functions)
            if (evaluators.count(&*function.handler) == 0)
              evaluators.emplace(&*function.handler,
                                 PolytopeEvaluator<dim>(*function.handler));
        }
    }

    void
    build() const
    {
      data_out.patches.clear();
      data_out.patches.resize(first_patch.back());
      dealii::parallel::apply_to_subranges(
        0U,
        mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          std::array<std::vector<double>, dim> x;
          std::vector<double>                  values;
          DerivativesOfHandlers<dim>           derivatives;
          for (const auto &evaluator : evaluators)
            derivatives.emplace(evaluator.first,
                                PolynomialDerivatives<dim>(
                                  evaluator.first->polynomial_space() ==
                                  PolynomialSpaceType::tensor_product));
          for (unsigned int k = begin; k < end; ++k)
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              {
                nodes.positions(s, x);
                evaluate(k, s, x, derivatives, values);
                store(s, x, values);
              }
        },
        16);
    }

  private:
    /// Computes values[row * n_nodes + q] of all fields on sub-cell @p s of
    /// polytope @p k.
    void
    evaluate(const unsigned int                          k,
             const unsigned int                          s,
             const std::array<std::vector<double>, dim> &x,
             DerivativesOfHandlers<dim>                 &derivatives,
             std::vector<double>                        &values) const
    {
      const std::size_t n_nodes = x[0].size();
      values.resize(n_rows * n_nodes);
      unsigned int                    row = 0;
      std::array<const double *, dim> pointers;
      for (int d = 0; d < dim; ++d)
        pointers[d] = x[d].data();
      for (const DofData &data : data_out.dof_data)
        {
          double *const result = values.data() + row * n_nodes;
          row += data.names.size();
          if (data.postprocessor != nullptr)
            {
              evaluate_derived(data, k, x, derivatives, result);
              continue;
            }
          const DofFunction   &function = data.functions[0];
          const PolytopicDoFs &space    = function.handler->polytopic_dofs();
          for (unsigned int component = 0; component < data.names.size();
               ++component)
            evaluators.at(&*function.handler)
              .evaluate(k,
                        function.values.data() + space.dof_offset[k] +
                          std::size_t(component) * space.n_basis[k],
                        n_nodes,
                        pointers,
                        result + component * n_nodes,
                        nullptr);
        }
      const auto constant = [&](const double value) {
        std::fill_n(values.begin() + row * n_nodes, n_nodes, value);
        ++row;
      };
      for (const auto &data : data_out.polytope_data)
        constant(data[k]);
      constant(handler.global_polytope_index(k));
      constant(color[k]);
      constant(dofs.degree.size() == mesh.n_polytopes() ? dofs.degree[k] : 0);
      constant(mesh.subcell_material[s]);
    }

    /// Computes result[i * n_nodes + q] for quantity i of the postprocessor of
    /// @p data.
    void
    evaluate_derived(const DofData                              &data,
                     const unsigned int                          k,
                     const std::array<std::vector<double>, dim> &x,
                     DerivativesOfHandlers<dim>                 &derivatives,
                     double *const                               result) const
    {
      unsigned int n_components = 0;
      for (const DofFunction &function : data.functions)
        n_components += function.handler->n_components();
      PostprocessorInput<dim> input(
        n_components, data.postprocessor->get_needed_update_flags(), x);
      unsigned int first = 0;
      for (const DofFunction &function : data.functions)
        {
          const AgglomerationHandler<dim> &its = *function.handler;
          input.evaluate(its,
                         evaluators.at(&its),
                         derivatives.at(&its),
                         k,
                         function.values.data() +
                           its.polytopic_dofs().dof_offset[k],
                         first);
          first += its.n_components();
        }
      const std::size_t                   n_nodes = x[0].size();
      std::vector<dealii::Vector<double>> quantities(
        n_nodes, dealii::Vector<double>(data.names.size()));
      input.call(*data.postprocessor, quantities);
      for (unsigned int i = 0; i < data.names.size(); ++i)
        for (std::size_t q = 0; q < n_nodes; ++q)
          result[i * n_nodes + q] = quantities[q][i];
    }

    /// Stores the patches of sub-cell @p s.
    void
    store(const unsigned int                          s,
          const std::array<std::vector<double>, dim> &x,
          const std::vector<double>                  &values) const
    {
      const auto        cell    = nodes.reference_cell(s);
      const NodeSet    &set     = nodes.node_set(cell);
      const std::size_t n_nodes = x[0].size();
      const bool        points_needed =
        set.points_needed || (mesh.subcell_type[s] == SubCellType::tabulated &&
                              set.n_subdivisions > 1);
      for (unsigned int i = 0; i < set.patches.size(); ++i)
        {
          auto       &patch    = data_out.patches[first_patch[s] + i];
          const auto &of_patch = set.patches[i];
          patch.reference_cell = cell;
          patch.patch_index    = static_cast<unsigned int>(first_patch[s] + i);
          patch.n_subdivisions = set.n_subdivisions;
          patch.points_are_available = points_needed;
          patch.data.reinit(n_rows + (points_needed ? dim : 0),
                            of_patch.size());
          for (unsigned int r = 0; r < n_rows; ++r)
            for (unsigned int q = 0; q < of_patch.size(); ++q)
              patch.data(r, q) =
                static_cast<float>(values[r * n_nodes + of_patch[q]]);
          if (points_needed)
            for (int d = 0; d < dim; ++d)
              for (unsigned int q = 0; q < of_patch.size(); ++q)
                patch.data(n_rows + d, q) =
                  static_cast<float>(x[d][of_patch[q]]);
          for (unsigned int corner = 0; corner < cell.n_vertices(); ++corner)
            {
              const unsigned int node =
                of_patch[cell.is_hyper_cube()
                           ? lattice_corner(corner, set.n_subdivisions)
                           : corner];
              for (int d = 0; d < dim; ++d)
                patch.vertices[corner][d] = x[d][node];
            }
        }
    }

    /// Node at a corner of a subdivided hypercube, which is an extreme node of
    /// its lattice; nodes of other cells begin with the corners.
    static unsigned int
    lattice_corner(const unsigned int corner, const unsigned int n_subdivisions)
    {
      unsigned int node = 0, step = n_subdivisions;
      for (int d = 0; d < dim; ++d)
        {
          node += ((corner >> d) & 1) * step;
          step *= n_subdivisions + 1;
        }
      return node;
    }

    PolytopicDataOut<dim>           &data_out;
    const AgglomerationHandler<dim> &handler;
    const PolytopicMesh<dim>        &mesh;
    const PolytopicDoFs             &dofs;
    const SubCellNodes<dim>         &nodes;
    const std::vector<unsigned int>  color;
    std::vector<std::size_t>         first_patch;
    unsigned int                     n_rows;
    std::map<const AgglomerationHandler<dim> *, PolytopeEvaluator<dim>>
      evaluators;
  };



  template <int dim>
  void
  PolytopicDataOut<dim>::build_patches(const unsigned int n_subdivisions,
                                       const bool         higher_order_cells)
  {
    unsigned int n = n_subdivisions;
    if (n == 0)
      {
        n = 1;
        for (const DofData &data : dof_data)
          for (const DofFunction &function : data.functions)
            n = std::max(n, std::min(function.handler->max_degree(), 4U));
      }
    // In 3-D, deal.II 9.4 writes higher-order cells for hexahedra only.
    bool higher_order = higher_order_cells;
    if (dim == 3)
      for (const SubCellType type : handler->polytopic_mesh().subcell_type)
        higher_order = higher_order && (type == SubCellType::hypercube ||
                                        type == SubCellType::parallelepiped);
    // The default of deal.II, the best compression, needs seconds per million
    // nodes and reduces the size by only a few per cent. The type of the member
    // depends on the version of deal.II.
    dealii::DataOutBase::VtkFlags flags;
    flags.write_higher_order_cells = higher_order;
    flags.compression_level = decltype(flags.compression_level)::best_speed;
    this->set_flags(flags);

    const SubCellNodes<dim> nodes(*handler,
                                  n,
                                  /*quadratic=*/higher_order && n > 1);
    PatchBuilder(*this, nodes).build();
  }



  namespace
  {
    /// Part of this process's .vtu text that goes into the common file: its
    /// piece, preceded on the first process by the header and followed on the
    /// last process by the footer.
    std::string
    own_part(const std::string &vtu,
             const MPI_Comm     communicator,
             const bool         has_piece)
    {
      const std::string  before = "<UnstructuredGrid>\n";
      std::ostringstream footer;
      dealii::DataOutBase::write_vtu_footer(footer);
      const std::size_t begin = vtu.find(before);
      const std::size_t end   = vtu.rfind(footer.str());
      AssertThrow(begin != std::string::npos && end != std::string::npos &&
                    begin + before.size() <= end &&
                    end + footer.str().size() == vtu.size(),
                  dealii::ExcInternalError());
      const unsigned int process = this_process(communicator);
      const std::size_t  piece   = begin + before.size();
      std::string        part;
      if (process == 0)
        part = vtu.substr(0, piece);
      if (has_piece)
        part.append(vtu, piece, end - piece);
      if (process + 1 == n_processes(communicator))
        part += footer.str();
      return part;
    }
  } // namespace



  template <int dim>
  void
  PolytopicDataOut<dim>::write_vtu_file(const std::string &file_name) const
  {
    const MPI_Comm communicator = handler->get_communicator();
    const bool     parallel     = internal::n_processes(communicator) > 1;
    Tessella::on_all_processes(communicator, [&]() {
      AssertThrow(!patches.empty() || (parallel && handler->n_polytopes() == 0),
                  dealii::ExcMessage("There is nothing to write yet; call "
                                     "build_patches() after adding data."));
    });
    if (parallel)
      {
        // write_vtu_in_parallel() of deal.II creates the same file, but does
        // not notice when the disk is full.
        const dealii::types::global_dof_index n_patches =
          dealii::Utilities::MPI::sum(
            static_cast<dealii::types::global_dof_index>(patches.size()),
            communicator);
        std::string text;
        Tessella::on_all_processes(communicator, [&]() {
          std::ostringstream stream;
          this->write_vtu(stream);
          text =
            own_part(stream.str(),
                     communicator,
                     /*has_piece=*/!patches.empty() ||
                       (n_patches == 0 && this_process(communicator) == 0));
        });
        write_file_in_parallel(communicator, file_name, text);
        return;
      }
    write_file(file_name, [&](std::ostream &out) { this->write_vtu(out); });
  }



  template <int dim>
  const std::vector<dealii::DataOutBase::Patch<dim, dim>> &
  PolytopicDataOut<dim>::get_patches() const
  {
    return patches;
  }



  template <int dim>
  std::vector<std::string>
  PolytopicDataOut<dim>::get_dataset_names() const
  {
    std::vector<std::string> names;
    for (const DofData &data : dof_data)
      names.insert(names.end(), data.names.begin(), data.names.end());
    names.insert(names.end(),
                 polytope_data_names.begin(),
                 polytope_data_names.end());
    for (const char *name : {"polytope", "color", "degree", "material_id"})
      names.emplace_back(name);
    return names;
  }



  template <int dim>
  std::vector<std::tuple<unsigned int,
                         unsigned int,
                         std::string,
                         typename PolytopicDataOut<dim>::Interpretation>>
  PolytopicDataOut<dim>::get_nonscalar_data_ranges() const
  {
    decltype(get_nonscalar_data_ranges()) ranges;
    unsigned int                          row = 0;
    for (const DofData &data : dof_data)
      {
        const unsigned int n = data.names.size();
        for (unsigned int c = 0; c < n;)
          if (data.interpretation[c] == component_is_scalar)
            ++c;
          else
            {
              const unsigned int length =
                data.interpretation[c] == component_is_part_of_vector
                  ? dim
                  : dim * dim;
              AssertThrow(c + length <= n,
                          dealii::ExcMessage(
                            "The vector field \"" + data.names[c] +
                            "\" has fewer than " + std::to_string(length) +
                            " components."));
              ranges.emplace_back(row + c,
                                  row + c + length - 1,
                                  data.names[c],
                                  data.interpretation[c]);
              c += length;
            }
        row += n;
      }
    return ranges;
  }



#define TESSELLA_INSTANTIATE(dim)                         \
  template class PolytopicDataOut<dim>;                   \
  template void PolytopicDataOut<dim>::add_polytope_data( \
    const dealii::Vector<float> &, const std::string &);  \
  template void PolytopicDataOut<dim>::add_polytope_data( \
    const dealii::Vector<double> &, const std::string &);

  TESSELLA_INSTANTIATE(2)
  TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
} // namespace Tessella
