// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../../source/operators/simplex_reference.h"
#include "../device/memory.h"
#include "operator_device.h"
#include "simplex_kernels.h"
#include "simplex_nodes.h"
#include "simplex_product.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// The kernels of a degree, with launch parameters.
        struct SimplexLauncher
        {
          virtual ~SimplexLauncher() = default;
          virtual void
          rows(const SimplexArguments &arguments, double *y) const = 0;
        };

        void
        check_launch()
        {
          check(cudaGetLastError(), "a product without a matrix");
        }

        template <typename Sizes>
        class SimplexLauncherOf : public SimplexLauncher
        {
        public:
          SimplexLauncherOf(const bool reaction, const bool advection)
            : n_tiles(reaction    ? Sizes::n_tiles
                      : advection ? Sizes::mass
                                  : Sizes::projection)
          {
            if (nodal_rows_memory<Sizes>(n_tiles) > shared_memory_limit())
              n_tiles = 0;
            memory = nodal_rows_memory<Sizes>(n_tiles);
            check(
              cudaFuncSetAttribute(nodal_rows<Sizes>,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(memory)),
              "shared memory of a product without a matrix");
            int blocks = 0, processors = 0;
            check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &blocks, nodal_rows<Sizes>, Sizes::warps * 32, memory),
                  "a query of the device");
            check(cudaDeviceGetAttribute(&processors,
                                         cudaDevAttrMultiProcessorCount,
                                         current_device()),
                  "a query of the device");
            n_blocks = static_cast<unsigned int>(blocks * processors);
          }

          void
          rows(const SimplexArguments &arguments, double *y) const override
          {
            constexpr unsigned int size = 8 * Sizes::rows * Sizes::warps;
            const unsigned int needed   = (arguments.n_rows + size - 1) / size;
            const unsigned int grid     = needed < n_blocks ? needed : n_blocks;
            if (grid > 0)
              nodal_rows<Sizes>
                <<<grid, Sizes::warps * 32, memory, current_stream()>>>(
                  arguments, n_tiles, y);
            check_launch();
          }

        private:
          int          n_tiles;
          std::size_t  memory;
          unsigned int n_blocks;
        };

        /// Constant matrices in the layout of SimplexSizes.
        template <typename Sizes>
        std::vector<double>
        make_tables(const SimplexReference &r)
        {
          std::vector<double> tables(64 * std::size_t(Sizes::n_tiles), 0.);
          const auto          copy = [&](const std::vector<double> &A,
                                const int                  place,
                                const int                  m,
                                const int                  n) {
            const int columns = (n + 7) / 8;
            for (int i = 0; i < m; ++i)
              for (int j = 0; j < n; ++j)
                tables[64 * std::size_t(place + i / 8 * columns + j / 8) +
                       i % 8 * 8 + ((j % 8) ^ (i & 4))] = A[i * n + j];
          };
          for (int d = 0; d < Sizes::dim; ++d)
            copy(r.gradient[d],
                 Sizes::gradient + d * Sizes::t_lower * Sizes::t,
                 Sizes::n_lower,
                 Sizes::n);
          copy(r.transversal,
               Sizes::transversal,
               Sizes::n_face_lower,
               Sizes::n);
          for (int d = 0; d + 1 < Sizes::dim; ++d)
            copy(r.tangential[d],
                 Sizes::tangential + d * Sizes::t_face_lower * Sizes::t_face,
                 Sizes::n_face_lower,
                 Sizes::n_face);
          copy(r.face_moments,
               Sizes::face_moments,
               Sizes::n_face,
               Sizes::n_face);
          copy(r.projection, Sizes::projection, Sizes::n_lower, Sizes::n);
          copy(r.mass, Sizes::mass, Sizes::n, Sizes::n);
          return tables;
        }

        template <int dim>
        struct SimplexSetUp
        {
          /// Calls @p work with the sizes of a degree.
          template <int degree, typename Work>
          static void
          with_degree(const unsigned int p, const Work &work)
          {
            if (p == degree)
              work(SimplexSizes<dim, degree>());
            else if constexpr (degree < static_cast<int>(
                                          SimplexProduct::max_degree(dim)))
              with_degree<degree + 1>(p, work);
            else
              throw Error("There is no kernel for simplices of this degree.");
          }
        };
      } // namespace



      struct SimplexProduct::Implementation
      {
        SimplexArguments                 arguments;
        std::unique_ptr<SimplexLauncher> launcher;
        Array<double>                    corners, coefficients, tables;
        SimplexNodes                     nodes;
        Array<unsigned int>              neighbor;
        Array<unsigned short>            frame;
        mutable Array<double>            nodal, rows;
        double                           theta;
        std::size_t                      n_entries;

        Implementation(const SimplexData &data, const SimplexReference &r)
          : corners(data.corners)
          , nodes(
              data.dim, data.degree, data.n_simplices, corners.data(), r.nodes)
          , theta(data.theta)
          , n_entries(std::size_t(data.n_rows) * r.n)
        {
          if (data.dim == 2)
            create<2>(data, r);
          else
            create<3>(data, r);
          coefficients                  = Array<double>(data.coefficients);
          neighbor                      = Array<unsigned int>(data.neighbor);
          const unsigned int          m = (r.n + 7) / 8 * 8;
          std::vector<unsigned short> padded((r.dim + 1) * m, 0);
          for (unsigned int f = 0; f <= r.dim; ++f)
            for (unsigned int i = 0; i < r.n; ++i)
              padded[f * m + i] = r.frame[f * r.n + i];
          frame = Array<unsigned short>(padded);
          nodal.resize(std::size_t(data.n_simplices) * r.n);
          arguments = {data.n_rows,
                       data.n_simplices,
                       data.reaction,
                       data.advection,
                       1.,
                       theta,
                       coefficients.data(),
                       neighbor.data(),
                       tables.data(),
                       frame.data(),
                       nodal.data()};
        }

        template <int dim>
        void
        create(const SimplexData &data, const SimplexReference &r)
        {
          SimplexSetUp<dim>::template with_degree<1>(
            data.degree, [&](const auto sizes) {
              using Sizes = std::decay_t<decltype(sizes)>;
              tables      = Array<double>(make_tables<Sizes>(r));
              launcher =
                std::make_unique<SimplexLauncherOf<Sizes>>(data.reaction,
                                                           data.advection);
            });
        }
      };



      SimplexProduct::SimplexProduct(const SimplexData      &data,
                                     const SimplexReference &reference)
        : implementation(std::make_unique<Implementation>(data, reference))
      {}

      SimplexProduct::~SimplexProduct() = default;



      void
      SimplexProduct::evaluate_at_nodes(const double *src,
                                        const double *ghosts) const
      {
        const Implementation &i = *implementation;
        i.nodes.evaluate(1, i.arguments.n_rows, src, ghosts, i.nodal.data());
      }



      void
      SimplexProduct::nodal_rows(double *y, const bool transpose) const
      {
        SimplexArguments arguments = implementation->arguments;
        if (transpose)
          {
            arguments.theta_trial = implementation->theta;
            arguments.theta_test  = 1.;
          }
        implementation->launcher->rows(arguments, y);
      }



      void
      SimplexProduct::basis_rows(const double              *y,
                                 const Destination<double> &dst) const
      {
        implementation->nodes.basis_rows(1,
                                         implementation->arguments.n_rows,
                                         y,
                                         dst);
      }



      void
      SimplexProduct::vmult(const Destination<double> &dst,
                            const double              *src,
                            const double              *ghosts,
                            const bool                 transpose) const
      {
        double *y = dst.y;
        if (dst.product != Product::set)
          {
            implementation->rows.resize(implementation->n_entries);
            y = implementation->rows.data();
          }
        evaluate_at_nodes(src, ghosts);
        nodal_rows(y, transpose);
        basis_rows(y, dst);
      }



      std::size_t
      SimplexProduct::memory_consumption() const
      {
        const Implementation &i = *implementation;
        return sizeof(double) *
                 (i.corners.size() + i.coefficients.size() + i.tables.size() +
                  i.nodal.size() + i.rows.size()) +
               i.nodes.memory_consumption() +
               sizeof(unsigned int) * i.neighbor.size() +
               sizeof(unsigned short) * i.frame.size();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
