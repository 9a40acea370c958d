// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_data_out_h
#define tessella_numerics_data_out_h

#include <deal.II/base/data_out_base.h>

#include <deal.II/lac/vector.h>
#include <deal.II/numerics/data_component_interpretation.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/vector_view.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace Tessella
{
  /**
   * Output of discrete solutions on the fine cells, in all formats of
   * dealii::DataOutInterface (write_vtu(), write_vtk(), write_gnuplot(),
   * write_vtu_with_pvtu_record(), ...). As there, functions that write to a
   * stream write the cells that this process owns; write_vtu_file() and
   * write_vtu_with_pvtu_record() write those of all processes. The class is
   * used like dealii::DataOut:
   *
   *     PolytopicDataOut<dim> data_out(agglomeration);
   *     data_out.add_data_vector(solution, "solution");
   *     data_out.build_patches();
   *     data_out.write_vtu_file("solution.vtu");
   *
   * The polynomial of each polytope is evaluated at the nodes of every
   * (subdivided) fine cell. The output is therefore the discontinuous solution
   * itself, without interpolation into another space. These scalar fields are
   * always added, constant on each polytope or cell:
   *   - polytope: index of the polytope,
   *   - color: small number that differs between neighbouring polytopes,
   *   - degree: polynomial degree,
   *   - material_id: deal.II's material id of the cell.
   *
   * <b>Derived quantities</b>, such as pressure, Mach number or vorticity, come
   * from a class derived from dealii::DataPostprocessor, for example
   * dealii::DataPostprocessorScalar. It receives values and gradients of the
   * polynomials themselves at the nodes:
   *
   *     const Vorticity<dim> vorticity;
   *     data_out.add_data_vector(solution, vorticity);
   *
   * <b>Several handlers</b> on the same polytopes, such as those of velocity
   * and pressure, can be in one output.
   *
   * <b>Cells.</b> Hypercubes are subdivided as in dealii::DataOut, simplices
   * into n_subdivisions^dim simplices; wedges and pyramids are not subdivided.
   * Cells that a mapping bends are drawn through that mapping.
   *
   * <b>Cost.</b> One evaluation of the basis per node and field; memory as for
   * dealii::DataOut: (dim + number of fields) floating point values per node.
   */
  template <int dim>
  class PolytopicDataOut : public dealii::DataOutInterface<dim>
  {
  public:
    using Interpretation =
      dealii::DataComponentInterpretation::DataComponentInterpretation;

    /// @p handler must outlive this object, and must have degrees of freedom if
    /// data vectors are to be added.
    explicit PolytopicDataOut(const AgglomerationHandler<dim> &handler);

    /**
     * Adds a discrete function; its values are copied. With one component the
     * field is called @p name; with dim components it is a vector field of that
     * name; with any other number the fields are name_0, name_1, ... The vector
     * is of any type that ConstVectorView lists.
     */
    void
    add_data_vector(const ConstVectorView &vector, const std::string &name);

    /// The same with a name and, if @p interpretation is not empty, an
    /// interpretation per component. Components of a vector field are
    /// consecutive and have equal names.
    void
    add_data_vector(const ConstVectorView             &vector,
                    const std::vector<std::string>    &names,
                    const std::vector<Interpretation> &interpretation = {});

    /// The same for a function of another handler, which must have the same
    /// polytopes and outlive this object.
    void
    add_data_vector(const AgglomerationHandler<dim>   &handler,
                    const ConstVectorView             &vector,
                    const std::vector<std::string>    &names,
                    const std::vector<Interpretation> &interpretation = {});

    /**
     * Adds quantities that @p postprocessor computes from a discrete function,
     * with the names and interpretations that it returns. With one component
     * evaluate_scalar_field() is called, otherwise evaluate_vector_field(), for
     * all nodes of a cell at once and by several threads concurrently. The
     * inputs have evaluation_points, solution_values and, if they are asked for
     * by get_needed_update_flags(), solution_gradients and solution_hessians;
     * the cell and normals are not set, and a flag that asks for normals is
     * an error. The postprocessor must outlive this object.
     */
    void
    add_data_vector(const ConstVectorView                &vector,
                    const dealii::DataPostprocessor<dim> &postprocessor);

    /// The same with functions of several handlers on the same polytopes, whose
    /// components follow each other in the input of the postprocessor.
    void
    add_data_vector(
      const std::vector<const AgglomerationHandler<dim> *> &handlers,
      const ConstVectorViews                               &vectors,
      const dealii::DataPostprocessor<dim>                 &postprocessor);

    /// Adds a field of one value per polytope (error indicators, for example).
    template <typename Number>
    void
    add_polytope_data(const dealii::Vector<Number> &data,
                      const std::string            &name);

    /**
     * Evaluates all fields. @p n_subdivisions = 0 means the largest degree in
     * the handler, at least 1 and at most 4 (1 if there is no data vector).
     *
     * With @p higher_order_cells a hypercube is one Lagrange cell of degree
     * n_subdivisions, and a simplex is one quadratic cell if n_subdivisions >
     * 1, since deal.II supports no higher ones. In 3-D, meshes with other cells
     * than straight hexahedra are subdivided instead. ParaView draws such cells
     * curved; only the VTK formats support them. The function sets the VtkFlags
     * of this object to these cells and to fast compression; set_flags()
     * afterwards changes them.
     */
    void
    build_patches(const unsigned int n_subdivisions     = 0,
                  const bool         higher_order_cells = false);

    /// Writes a .vtu file, completely or not at all (see write_file()). On a
    /// mesh that is distributed over processes, all processes write into one
    /// file together.
    void
    write_vtu_file(const std::string &file_name) const;

  protected:
    const std::vector<dealii::DataOutBase::Patch<dim, dim>> &
    get_patches() const override;
    std::vector<std::string>
    get_dataset_names() const override;
    std::vector<
      std::tuple<unsigned int, unsigned int, std::string, Interpretation>>
    get_nonscalar_data_ranges() const override;

  private:
    class PatchBuilder;

    using HandlerPointer =
      SmartPointer<const AgglomerationHandler<dim>, PolytopicDataOut<dim>>;
    using PostprocessorPointer =
      SmartPointer<const dealii::DataPostprocessor<dim>, PolytopicDataOut<dim>>;

    /// A discrete function.
    struct DofFunction
    {
      HandlerPointer      handler;
      std::vector<double> values;
    };

    /// Fields of one discrete function, or what a postprocessor computes from
    /// one or several.
    struct DofData
    {
      std::vector<DofFunction>    functions;
      PostprocessorPointer        postprocessor; ///< or null
      std::vector<std::string>    names;
      std::vector<Interpretation> interpretation;
    };

    /// Copies the values of @p vector, and checks that @p handler has the
    /// polytopes of this object.
    DofFunction
    make_function(const AgglomerationHandler<dim> &handler,
                  const ConstVectorView           &vector) const;

    HandlerPointer                                    handler;
    std::vector<DofData>                              dof_data;
    std::vector<std::vector<double>>                  polytope_data;
    std::vector<std::string>                          polytope_data_names;
    std::vector<dealii::DataOutBase::Patch<dim, dim>> patches;
  };

  /// Options of write_polytopes_vtu().
  struct PolytopeOutputFlags
  {
    /// Whether arrays are Base64-encoded; otherwise they are readable text with
    /// 17 digits.
    bool binary = true;
    /// Further cell data: name, and one value per polytope (of this process).
    std::vector<std::pair<std::string, std::vector<double>>> data;
  };

  /**
   * Writes the polytopes themselves as an unstructured grid of polygons or
   * polyhedra with the cell data polytope, color (differs between neighbours),
   * degree and measure. The file is written completely or not at all (see
   * write_file()).
   *
   * 2-D: a VTK_POLYGON for every outer boundary loop of a polytope,
   * counter-clockwise, so that a polytope of several parts is several polygons
   * with the same polytope index. VTK's polygons cannot have holes: a hole is
   * joined to its outer loop by a cut, two coincident edges that cancel, so
   * that areas are correct. All end points of facets are vertices, including
   * hanging nodes, so that neighbouring polygons share vertices and edges.
   *
   * 3-D: a VTK_POLYHEDRON for every polytope, whose faces are its facets,
   * oriented outward. Parts and cavities are further closed surfaces of the
   * same polyhedron.
   *
   * Edges that a mapping bends are written as eight pieces in 2-D, and with
   * their end points only in 3-D; bilinear faces are written as quadrilaterals.
   *
   * On a mesh that is distributed over processes, each process writes its own
   * file, NAME.PROCESS.vtu if @p file_name is NAME.vtu, and the first process
   * also writes NAME.pvtu, which refers to these files. Colors then differ
   * between neighbours of one process. Collective.
   */
  template <int dim>
  void
  write_polytopes_vtu(const AgglomerationHandler<dim> &handler,
                      const std::string               &file_name,
                      const PolytopeOutputFlags       &flags = {});
} // namespace Tessella

#endif
