// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>
#include <deal.II/base/utilities.h>

#include <deal.II/grid/reference_cell.h>
#include <deal.II/grid/tria.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/write_file.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <ostream>
#include <sstream>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "new_file.h"
#include "polytope_evaluation.h"
#include "polytope_outlines.h"

namespace Tessella
{
  using namespace internal;
  using dealii::DataComponentInterpretation::component_is_part_of_vector;
  using dealii::DataComponentInterpretation::component_is_scalar;
  using dealii::DataComponentInterpretation::DataComponentInterpretation;

  template <int dim>
  PolytopicDataOut<dim>::PolytopicDataOut(
    const AgglomerationHandler<dim> &handler)
    : handler(&handler)
  {}



  template <int dim>
  template <typename VectorType>
  void
  PolytopicDataOut<dim>::add_data_vector(const VectorType  &vector,
                                         const std::string &name)
  {
    const unsigned int n = handler->n_components();
    if (n == 1)
      add_data_vector(vector, std::vector<std::string>(1, name));
    else if (n == dim)
      add_data_vector(vector,
                      std::vector<std::string>(n, name),
                      std::vector<DataComponentInterpretation>(
                        n, component_is_part_of_vector));
    else
      {
        std::vector<std::string> names;
        for (unsigned int c = 0; c < n; ++c)
          names.push_back(name + "_" + std::to_string(c));
        add_data_vector(vector, names);
      }
  }



  template <int dim>
  template <typename VectorType>
  void
  PolytopicDataOut<dim>::add_data_vector(
    const VectorType                               &vector,
    const std::vector<std::string>                 &names,
    const std::vector<DataComponentInterpretation> &interpretation)
  {
    const unsigned int n = handler->n_components();
    AssertThrow(names.size() == n &&
                  (interpretation.empty() || interpretation.size() == n),
                dealii::ExcMessage(
                  "add_data_vector() needs one name, and if any one "
                  "interpretation, for each of the " +
                  std::to_string(n) + " components."));
    DofData             data;
    const std::size_t   n_own  = handler->n_locally_owned_dofs();
    const double *const values = vector_data(vector, n_own);
    data.values.assign(values, values + n_own);
    data.names          = names;
    data.interpretation = interpretation;
    if (interpretation.empty())
      data.interpretation.assign(n, component_is_scalar);
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



  template <int dim>
  void
  PolytopicDataOut<dim>::build_patches(const unsigned int n_subdivisions,
                                       const bool         higher_order_cells)
  {
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    const bool         has_degrees = (mesh.degree.size() == mesh.n_polytopes());
    const unsigned int n =
      n_subdivisions > 0
        ? n_subdivisions
        : (dof_data.empty()
             ? 1U
             : std::min(std::max(handler->max_degree(), 1U), 4U));
    // In 3-D, deal.II 9.4 writes higher-order cells for hexahedra only.
    bool higher_order = higher_order_cells;
    if (dim == 3)
      for (const SubCellType type : mesh.subcell_type)
        higher_order = higher_order && (type == SubCellType::hypercube ||
                                        type == SubCellType::parallelepiped);
    // The default of deal.II, the best compression, needs seconds per million
    // nodes and reduces the size by only a few per cent. The type of the member
    // depends on the version of deal.II.
    dealii::DataOutBase::VtkFlags flags;
    flags.write_higher_order_cells = higher_order;
    flags.compression_level = decltype(flags.compression_level)::best_speed;
    this->set_flags(flags);

    const NodeSet hypercube = hypercube_nodes<dim>(n);
    const NodeSet simplex   = (higher_order && n > 1)
                                ? quadratic_simplex_nodes<dim>()
                                : simplex_nodes<dim>(n);
    NodeSet       pyramid, wedge;
    if constexpr (dim == 3)
      {
        pyramid = vertex_nodes<dim>(dealii::ReferenceCells::Pyramid);
        wedge   = vertex_nodes<dim>(dealii::ReferenceCells::Wedge);
      }
    using ReferenceCell = Compatibility::ReferenceCell<dim>;
    auto reference_cell = [&](const unsigned int s) -> ReferenceCell {
      switch (mesh.subcell_type[s])
        {
          case SubCellType::simplex:
            return dealii::ReferenceCells::get_simplex<dim>();
          case SubCellType::parallelepiped:
          case SubCellType::hypercube:
            return dealii::ReferenceCells::get_hypercube<dim>();
          default:
            return handler->active_cell(mesh.subcell_cell[s])->reference_cell();
        }
    };
    auto node_set = [&](const ReferenceCell &cell) -> const NodeSet & {
      if (cell.is_hyper_cube())
        return hypercube;
      if (cell.is_simplex())
        return simplex;
      return cell.n_vertices() == 5 ? pyramid : wedge;
    };

    // Sub-cells of owned polytopes come first.
    const unsigned int n_subcells =
      mesh.subcell_offset[mesh.n_owned_polytopes()];
    std::vector<std::size_t> first_patch(n_subcells + 1, 0);
    for (unsigned int s = 0; s < n_subcells; ++s)
      first_patch[s + 1] =
        first_patch[s] + node_set(reference_cell(s)).patches.size();

    unsigned int n_fields = 0;
    for (const DofData &data : dof_data)
      n_fields += data.names.size();
    const unsigned int n_rows = n_fields + polytope_data.size() + 4;
    const std::vector<unsigned int>         color = color_polytopes(mesh);
    std::unique_ptr<PolytopeEvaluator<dim>> evaluator;
    if (!dof_data.empty())
      evaluator = std::make_unique<PolytopeEvaluator<dim>>(*handler);

    patches.clear();
    patches.resize(first_patch.back());
    dealii::parallel::apply_to_subranges(
      0U,
      mesh.n_owned_polytopes(),
      [&](const unsigned int begin, const unsigned int end) {
        std::array<std::vector<double>, dim> x;
        std::vector<double>                  values;
        for (unsigned int k = begin; k < end; ++k)
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            {
              const ReferenceCell cell    = reference_cell(s);
              const NodeSet      &set     = node_set(cell);
              const unsigned int  n_nodes = set.nodes.size() / dim;
              const bool          tabulated =
                (mesh.subcell_type[s] == SubCellType::tabulated);
              const double *const v =
                &mesh.subcell_vertices[std::size_t(
                                         mesh.subcell_vertex_offset[s]) *
                                       dim];

              // Positions of the nodes.
              double derivative[dim][dim];
              for (int d = 0; d < dim; ++d)
                x[d].resize(n_nodes);
              for (unsigned int q = 0; q < n_nodes; ++q)
                {
                  const double *const xi       = &set.nodes[q * dim];
                  double              point[3] = {};
                  if (tabulated)
                    {
                      dealii::Point<dim> unit;
                      for (int d = 0; d < dim; ++d)
                        unit[d] = xi[d];
                      const dealii::Point<dim> real =
                        handler->get_mapping().transform_unit_to_real_cell(
                          handler->active_cell(mesh.subcell_cell[s]), unit);
                      for (int d = 0; d < dim; ++d)
                        point[d] = real[d];
                    }
                  else if (cell.is_hyper_cube())
                    Geometry::multilinear_map<dim, dim>(v,
                                                        xi,
                                                        point,
                                                        derivative);
                  else
                    for (int d = 0; d < dim; ++d)
                      {
                        // Weighted vertices: the result is exact at the
                        // vertices themselves.
                        double first = 1.;
                        for (int l = 0; l < dim; ++l)
                          {
                            point[d] += xi[l] * v[(l + 1) * dim + d];
                            first -= xi[l];
                          }
                        point[d] += first * v[d];
                      }
                  for (int d = 0; d < dim; ++d)
                    x[d][q] = point[d];
                }

              // Values of the fields.
              values.resize(std::size_t(n_rows) * n_nodes);
              unsigned int                    row = 0;
              std::array<const double *, dim> pointers;
              for (int d = 0; d < dim; ++d)
                pointers[d] = x[d].data();
              for (const DofData &data : dof_data)
                for (unsigned int component = 0; component < data.names.size();
                     ++component, ++row)
                  evaluator->evaluate(k,
                                      data.values.data() + mesh.dof_offset[k] +
                                        std::size_t(component) *
                                          mesh.n_basis[k],
                                      n_nodes,
                                      pointers,
                                      values.data() +
                                        std::size_t(row) * n_nodes,
                                      nullptr);
              auto constant = [&](const double value) {
                std::fill_n(values.begin() + std::size_t(row) * n_nodes,
                            n_nodes,
                            value);
                ++row;
              };
              for (const auto &data : polytope_data)
                constant(data[k]);
              constant(handler->global_polytope_index(k));
              constant(color[k]);
              constant(has_degrees ? mesh.degree[k] : 0);
              constant(mesh.subcell_material[s]);

              for (unsigned int i = 0; i < set.patches.size(); ++i)
                {
                  auto       &patch = patches[first_patch[s] + i];
                  const auto &nodes = set.patches[i];
                  const bool  points_needed =
                    set.points_needed || (tabulated && set.n_subdivisions > 1);
                  patch.reference_cell = cell;
                  patch.patch_index =
                    static_cast<unsigned int>(first_patch[s] + i);
                  patch.n_subdivisions       = set.n_subdivisions;
                  patch.points_are_available = points_needed;
                  patch.data.reinit(n_rows + (points_needed ? dim : 0),
                                    nodes.size());
                  for (unsigned int r = 0; r < n_rows; ++r)
                    for (unsigned int q = 0; q < nodes.size(); ++q)
                      patch.data(r, q) = static_cast<float>(
                        values[std::size_t(r) * n_nodes + nodes[q]]);
                  if (points_needed)
                    for (int d = 0; d < dim; ++d)
                      for (unsigned int q = 0; q < nodes.size(); ++q)
                        patch.data(n_rows + d, q) =
                          static_cast<float>(x[d][nodes[q]]);
                  for (unsigned int corner = 0; corner < cell.n_vertices();
                       ++corner)
                    {
                      // The corners of a subdivided hypercube are the extreme
                      // nodes of its lattice; otherwise the first nodes are the
                      // corners.
                      unsigned int node = corner;
                      if (cell.is_hyper_cube())
                        {
                          node              = 0;
                          unsigned int step = set.n_subdivisions;
                          for (int d = 0; d < dim; ++d)
                            {
                              node += ((corner >> d) & 1) * step;
                              step *= set.n_subdivisions + 1;
                            }
                        }
                      for (int d = 0; d < dim; ++d)
                        patch.vertices[corner][d] = x[d][nodes[node]];
                    }
                }
            }
      },
      16);
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
                         DataComponentInterpretation>>
  PolytopicDataOut<dim>::get_nonscalar_data_ranges() const
  {
    std::vector<std::tuple<unsigned int,
                           unsigned int,
                           std::string,
                           DataComponentInterpretation>>
                 ranges;
    unsigned int row = 0;
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



  namespace
  {
    /// Writer of the arrays of a VTU file.
    class VtuWriter
    {
    public:
      VtuWriter(std::ostream &out, const bool binary)
        : out(out)
        , binary(binary)
      {
        out.precision(17);
        const std::uint16_t one = 1;
        const bool          little_endian =
          *reinterpret_cast<const unsigned char *>(&one) == 1;
        out << "<?xml version=\"1.0\"?>\n"
            << "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
               "byte_order=\""
            << (little_endian ? "Little" : "Big")
            << "Endian\" header_type=\"UInt64\">\n"
            << "<UnstructuredGrid>\n";
      }

      template <typename T>
      void
      array(const char           *type,
            const std::string    &name,
            const std::vector<T> &data,
            const unsigned int    n_components = 1)
      {
        out << "<DataArray type=\"" << type << "\" Name=\"" << name << '"';
        if (n_components > 1)
          out << " NumberOfComponents=\"" << n_components << '"';
        out << " format=\"" << (binary ? "binary" : "ascii") << "\">\n";
        if (binary)
          {
            const std::uint64_t        n_bytes = data.size() * sizeof(T);
            std::vector<unsigned char> bytes(sizeof(n_bytes) + n_bytes);
            std::memcpy(bytes.data(), &n_bytes, sizeof(n_bytes));
            if (n_bytes > 0)
              std::memcpy(bytes.data() + sizeof(n_bytes), data.data(), n_bytes);
            out << dealii::Utilities::encode_base64(bytes) << '\n';
          }
        else
          for (std::size_t i = 0; i < data.size(); ++i)
            out << +data[i]
                << ((i + 1) % (n_components > 1 ? n_components : 12) == 0 ||
                        i + 1 == data.size()
                      ? '\n'
                      : ' ');
        out << "</DataArray>\n";
      }

    private:
      std::ostream &out;
      const bool    binary;
    };

    /// Cells of the grid whose cells are the polytopes.
    struct PolytopeGrid
    {
      std::vector<double>       points; // three coordinates per point
      std::vector<std::int64_t> connectivity, offsets, faces, face_offsets;
      std::vector<std::uint8_t> types;
      std::vector<unsigned int> polytope;
    };

    PolytopeGrid
    make_grid(const AgglomerationHandler<2> &handler)
    {
      const PolytopicMesh<2> &mesh = handler.polytopic_mesh();
      PolytopeGrid            grid;
      const PolygonOutlines   outlines(handler);
      for (std::size_t i = 0; i < outlines.points.size(); i += 2)
        {
          grid.points.push_back(outlines.points[i]);
          grid.points.push_back(outlines.points[i + 1]);
          grid.points.push_back(0.);
        }
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        for (const auto &polygon : outlines.polygons(k))
          {
            grid.connectivity.insert(grid.connectivity.end(),
                                     polygon.begin(),
                                     polygon.end());
            grid.offsets.push_back(grid.connectivity.size());
            grid.types.push_back(7); // VTK_POLYGON
            grid.polytope.push_back(k);
          }
      return grid;
    }

    PolytopeGrid
    make_grid(const AgglomerationHandler<3> &handler)
    {
      const PolytopicMesh<3>   &mesh = handler.polytopic_mesh();
      PolytopeGrid              grid;
      PointNumbering<3>         numbering(point_tolerance(mesh));
      std::vector<std::int64_t> vertices;
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        {
          vertices.clear();
          // Number of faces, then for each face the number of its points and
          // the points.
          const std::size_t start = grid.faces.size();
          grid.faces.push_back(0);
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int i    = mesh.polytope_interface[e] / 2,
                                 side = mesh.polytope_interface[e] % 2;
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                {
                  double             corners[4][3];
                  const unsigned int n =
                    facet_corners(mesh, i, f, side, corners);
                  grid.faces.push_back(n);
                  for (unsigned int v = 0; v < n; ++v)
                    {
                      const unsigned int p = numbering.number(corners[v]);
                      grid.faces.push_back(p);
                      vertices.push_back(p);
                    }
                  ++grid.faces[start];
                }
            }
          std::sort(vertices.begin(), vertices.end());
          vertices.erase(std::unique(vertices.begin(), vertices.end()),
                         vertices.end());
          grid.connectivity.insert(grid.connectivity.end(),
                                   vertices.begin(),
                                   vertices.end());
          grid.offsets.push_back(grid.connectivity.size());
          grid.face_offsets.push_back(grid.faces.size());
          grid.types.push_back(42); // VTK_POLYHEDRON
          grid.polytope.push_back(k);
        }
      grid.points = std::move(numbering.points);
      return grid;
    }

    /// Writes the piece of this process.
    template <int dim>
    void
    write_piece(const AgglomerationHandler<dim> &handler,
                NewFile                         &file,
                const PolytopeOutputFlags       &flags)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      for (const auto &data : flags.data)
        AssertThrow(data.second.size() == handler.n_polytopes(),
                    dealii::ExcMessage(
                      "The cell data \"" + data.first + "\" has " +
                      std::to_string(data.second.size()) +
                      " numbers instead of one per polytope, " +
                      std::to_string(handler.n_polytopes()) + "."));
      const PolytopeGrid              grid    = make_grid(handler);
      const std::size_t               n_cells = grid.polytope.size();
      const std::vector<unsigned int> color   = color_polytopes(mesh);

      file.write([&](std::ostream &out) {
        VtuWriter writer(out, flags.binary);
        out << "<Piece NumberOfPoints=\"" << grid.points.size() / 3
            << "\" NumberOfCells=\"" << n_cells << "\">\n<Points>\n";
        writer.array("Float64", "Points", grid.points, 3);
        out << "</Points>\n<Cells>\n";
        writer.array("Int64", "connectivity", grid.connectivity);
        writer.array("Int64", "offsets", grid.offsets);
        writer.array("UInt8", "types", grid.types);
        if (dim == 3)
          {
            writer.array("Int64", "faces", grid.faces);
            writer.array("Int64", "faceoffsets", grid.face_offsets);
          }
        out << "</Cells>\n<CellData Scalars=\"color\">\n";
        std::vector<std::int32_t> integers(n_cells);
        std::vector<double>       numbers(n_cells);
        auto integer_data = [&](const char *name, const auto &value) {
          for (std::size_t i = 0; i < n_cells; ++i)
            integers[i] = value(grid.polytope[i]);
          writer.array("Int32", name, integers);
        };
        auto number_data = [&](const std::string         &name,
                               const std::vector<double> &values) {
          for (std::size_t i = 0; i < n_cells; ++i)
            numbers[i] = values[grid.polytope[i]];
          writer.array("Float64", name, numbers);
        };
        integer_data("polytope", [&](const unsigned int k) {
          return handler.global_polytope_index(k);
        });
        integer_data("color", [&](const unsigned int k) { return color[k]; });
        if (mesh.degree.size() == mesh.n_polytopes())
          integer_data("degree",
                       [&](const unsigned int k) { return mesh.degree[k]; });
        number_data("measure", mesh.measure);
        for (const auto &data : flags.data)
          number_data(data.first, data.second);
        out << "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
      });
    }

    /// Writes the file that refers to the pieces of all processes.
    void
    write_pvtu(NewFile                   &file,
               const std::string         &stem,
               const unsigned int         n_pieces,
               const bool                 has_degrees,
               const PolytopeOutputFlags &flags)
    {
      file.write([&](std::ostream &out) {
        out << "<?xml version=\"1.0\"?>\n"
            << "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\">\n"
            << "<PUnstructuredGrid GhostLevel=\"0\">\n<PPoints>\n"
            << "<PDataArray type=\"Float64\" NumberOfComponents=\"3\"/>\n"
            << "</PPoints>\n<PCellData Scalars=\"color\">\n";
        const auto field = [&](const char *type, const std::string &name) {
          out << "<PDataArray type=\"" << type << "\" Name=\"" << name
              << "\"/>\n";
        };
        field("Int32", "polytope");
        field("Int32", "color");
        if (has_degrees)
          field("Int32", "degree");
        field("Float64", "measure");
        for (const auto &data : flags.data)
          field("Float64", data.first);
        out << "</PCellData>\n";
        // The pieces are in the same folder as this file.
        const std::string name = stem.substr(stem.find_last_of('/') + 1);
        for (unsigned int i = 0; i < n_pieces; ++i)
          out << "<Piece Source=\"" << name << '.' << i << ".vtu\"/>\n";
        out << "</PUnstructuredGrid>\n</VTKFile>\n";
      });
    }
  } // namespace



  template <int dim>
  void
  write_polytopes_vtu(const AgglomerationHandler<dim> &handler,
                      const std::string               &file_name,
                      const PolytopeOutputFlags       &flags)
  {
    const MPI_Comm     communicator = handler.get_communicator();
    const unsigned int n_processes  = internal::n_processes(communicator);
    if (n_processes > 1)
      {
        const std::size_t  dot     = file_name.rfind(".vtu");
        const std::string  stem    = file_name.substr(0, dot);
        const unsigned int process = internal::this_process(communicator);
        // Either all files are published or none.
        std::vector<std::unique_ptr<NewFile>> files;
        Tessella::on_all_processes(communicator, [&]() {
          files.push_back(std::make_unique<NewFile>(
            stem + '.' + std::to_string(process) + ".vtu"));
          write_piece(handler, *files[0], flags);
          if (process > 0)
            return;
          files.push_back(std::make_unique<NewFile>(stem + ".pvtu"));
          write_pvtu(*files[1],
                     stem,
                     n_processes,
                     handler.polytopic_mesh().degree.size() ==
                       handler.polytopic_mesh().n_polytopes(),
                     flags);
        });
        Tessella::on_all_processes(communicator, [&]() {
          for (const auto &file : files)
            file->publish();
        });
      }
    else
      {
        NewFile file(file_name);
        write_piece(handler, file, flags);
        file.publish();
      }
  }



#define TESSELLA_INSTANTIATE_VECTOR(dim, VectorType)                         \
  template void PolytopicDataOut<dim>::add_data_vector(const VectorType &,   \
                                                       const std::string &); \
  template void PolytopicDataOut<dim>::add_data_vector(                      \
    const VectorType &,                                                      \
    const std::vector<std::string> &,                                        \
    const std::vector<DataComponentInterpretation> &);

#define TESSELLA_INSTANTIATE(dim)                                           \
  template class PolytopicDataOut<dim>;                                     \
  template void PolytopicDataOut<dim>::add_polytope_data(                   \
    const dealii::Vector<float> &, const std::string &);                    \
  template void PolytopicDataOut<dim>::add_polytope_data(                   \
    const dealii::Vector<double> &, const std::string &);                   \
  template void write_polytopes_vtu<dim>(const AgglomerationHandler<dim> &, \
                                         const std::string &,               \
                                         const PolytopeOutputFlags &);      \
  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE_VECTOR, dim)

  TESSELLA_INSTANTIATE(2)
  TESSELLA_INSTANTIATE(3)
} // namespace Tessella
