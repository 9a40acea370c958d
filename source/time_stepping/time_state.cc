// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/checksum.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/write_file.h>
#include <tessella/time_stepping/time_state.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    const std::string state_magic = "tessella-time-state 1";

    /// The bits of a number in hexadecimal digits.
    std::string
    bits_of(const double x)
    {
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof(bits));
      std::ostringstream out;
      out << std::hex << bits;
      return out.str();
    }

    double
    number_from_bits(std::istream &in)
    {
      std::uint64_t bits = 0;
      in >> std::hex >> bits >> std::dec;
      double x;
      std::memcpy(&x, &bits, sizeof(bits));
      return x;
    }

    void
    append_bits(std::ostream &out, const std::vector<double> &numbers)
    {
      out << ' ' << numbers.size();
      for (const double x : numbers)
        out << ' ' << bits_of(x);
    }

    std::vector<double>
    numbers_from_bits(std::istream &in)
    {
      std::size_t n = 0;
      in >> n;
      std::vector<double> result;
      for (std::size_t i = 0; i < n && in; ++i)
        result.push_back(number_from_bits(in));
      return result;
    }

    template <typename T>
    void
    append(std::string &text, const T &value)
    {
      text.append(reinterpret_cast<const char *>(&value), sizeof(T));
    }

    template <typename T>
    T
    take(const std::string &text, std::size_t &position)
    {
      T value;
      AssertThrow(position + sizeof(T) <= text.size(),
                  ExcMessage("The record is too short."));
      std::memcpy(&value, &text[position], sizeof(T));
      position += sizeof(T);
      return value;
    }

    /// A record with its size before it and its checksum behind it.
    std::string
    record_of(const std::string &content)
    {
      std::string result;
      append(result, std::uint64_t(content.size()));
      result += content;
      append(result, checksum(content));
      return result;
    }

    /// Reads the next record; throws if it is damaged.
    std::string
    read_record(std::istream &in, const std::string &file_name)
    {
      std::uint64_t size = 0, sum = 0;
      in.read(reinterpret_cast<char *>(&size), sizeof(size));
      const std::streampos here = in.tellg();
      in.seekg(0, std::ios::end);
      const std::streampos end = in.tellg();
      in.seekg(here);
      std::string content;
      if (in && size <= std::uint64_t(end - here))
        {
          content.resize(size);
          in.read(&content[0], size);
          in.read(reinterpret_cast<char *>(&sum), sizeof(sum));
        }
      AssertThrow(in && content.size() == size && sum == checksum(content),
                  ExcMessage("The checkpoint '" + file_name +
                             "' is damaged: its end is missing or it was "
                             "changed."));
      return content;
    }

    /// Entries of the polytopes that this process owns, in the order of the
    /// file.
    void
    read_polytopes(const std::string                           &content,
                   const std::string                           &file_name,
                   const std::map<std::uint64_t, unsigned int> &index,
                   const std::vector<unsigned int>             &n_entries,
                   const std::vector<std::uint64_t>            &offset,
                   std::vector<bool>                           &found,
                   std::vector<std::vector<double>>            &vectors)
    {
      for (std::size_t position = 0; position < content.size();)
        {
          const auto key   = take<std::uint64_t>(content, position);
          const auto n     = take<std::uint32_t>(content, position);
          const auto entry = index.find(key);
          if (entry == index.end())
            {
              position += std::size_t(n) * sizeof(double) * vectors.size();
              continue;
            }
          const unsigned int k = entry->second;
          AssertThrow(n == n_entries[k],
                      ExcMessage("The checkpoint '" + file_name + "' has " +
                                 std::to_string(n) +
                                 " unknowns on a polytope where this run has " +
                                 std::to_string(n_entries[k]) +
                                 ": continue with the degree and the equation "
                                 "of the run that wrote it."));
          found[k] = true;
          for (auto &values : vectors)
            for (unsigned int i = 0; i < n; ++i)
              values[offset[k] + i] = take<double>(content, position);
        }
    }
  } // namespace



  std::string
  TimeState::text() const
  {
    AssertThrow(method.find('\n') == std::string::npos,
                ExcMessage("The name of a method must have one line."));
    std::ostringstream out;
    out << bits_of(time) << ' ' << bits_of(step) << ' ' << n_steps << ' '
        << bits_of(control.factor) << ' ' << bits_of(control.previous_ratio)
        << ' ' << control.rejected;
    append_bits(out, history_steps);
    append_bits(out, numbers);
    out << ' ' << method;
    return out.str();
  }



  TimeState
  TimeState::from_text(const std::string &text)
  {
    std::istringstream in(text);
    TimeState          result;
    result.time = number_from_bits(in);
    result.step = number_from_bits(in);
    in >> result.n_steps;
    result.control.factor         = number_from_bits(in);
    result.control.previous_ratio = number_from_bits(in);
    in >> result.control.rejected;
    result.history_steps = numbers_from_bits(in);
    result.numbers       = numbers_from_bits(in);
    AssertThrow(in,
                ExcMessage("The text is not that of a TimeState: '" +
                           text.substr(0, 60) + "'."));
    in.ignore();
    std::getline(in, result.method);
    return result;
  }



  template <int dim>
  void
  internal::identify_polytopes(const AgglomerationHandler<dim> &handler,
                               std::vector<std::uint64_t>      &polytopes,
                               std::vector<unsigned int>       &n_entries)
  {
    const auto &mesh   = handler.polytopic_mesh();
    const auto &offset = handler.polytopic_dofs().dof_offset;
    const auto  bytes  = [](const auto         &values,
                          const std::size_t   begin,
                          const std::size_t   end,
                          const std::uint64_t state) {
      return checksum(reinterpret_cast<const char *>(values.data() + begin),
                      (end - begin) * sizeof(double),
                      state);
    };
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      {
        const auto &vertex = mesh.subcell_vertex_offset;
        polytopes.push_back(
          bytes(mesh.subcell_vertices,
                dim * std::size_t(vertex[mesh.subcell_offset[k]]),
                dim * std::size_t(vertex[mesh.subcell_offset[k + 1]]),
                bytes(mesh.box, 2 * dim * k, 2 * dim * (k + 1), dim)));
        n_entries.push_back(offset[k + 1] - offset[k]);
      }
  }



  void
  internal::write_time_state(const std::string                &file_name,
                             const std::vector<std::uint64_t> &polytopes,
                             const std::vector<unsigned int>  &n_entries,
                             const MPI_Comm                    communicator,
                             const TimeState                  &state,
                             const std::vector<std::vector<double>> &vectors)
  {
    const unsigned int n_processes =
      Utilities::MPI::n_mpi_processes(communicator);
    const std::uint64_t n_all =
      Utilities::MPI::sum(std::uint64_t(polytopes.size()), communicator);
    std::string text;
    if (Utilities::MPI::this_mpi_process(communicator) == 0)
      {
        std::string head;
        append(head, n_all);
        append(head, std::uint32_t(n_processes));
        append(head, std::uint32_t(vectors.size()));
        text = state_magic + '\n' + record_of(head + state.text());
      }
    std::string content;
    std::size_t offset = 0;
    for (unsigned int k = 0; k < polytopes.size(); ++k)
      {
        append(content, polytopes[k]);
        append(content, std::uint32_t(n_entries[k]));
        for (const auto &values : vectors)
          {
            AssertThrow(offset + n_entries[k] <= values.size(),
                        ExcMessage("A vector of the checkpoint does not have "
                                   "the degrees of freedom of the handler."));
            content.append(reinterpret_cast<const char *>(&values[offset]),
                           n_entries[k] * sizeof(double));
          }
        offset += n_entries[k];
      }
    write_file_in_parallel(communicator, file_name, text + record_of(content));
  }



  TimeState
  internal::read_time_state(const std::string                &file_name,
                            const std::vector<std::uint64_t> &polytopes,
                            const std::vector<unsigned int>  &n_entries,
                            const MPI_Comm                    communicator,
                            std::vector<std::vector<double>> &vectors)
  {
    const std::uint64_t n_all =
      Utilities::MPI::sum(std::uint64_t(polytopes.size()), communicator);
    TimeState state;
    on_all_processes(communicator, [&]() {
      std::ifstream in(file_name, std::ios::binary);
      AssertThrow(in,
                  ExcMessage("The checkpoint '" + file_name +
                             "' cannot be opened."));
      std::string magic(state_magic.size() + 1, ' ');
      in.read(&magic[0], magic.size());
      AssertThrow(in && magic == state_magic + '\n',
                  ExcMessage("The file '" + file_name +
                             "' is not a checkpoint of a time integrator."));
      const std::string head        = read_record(in, file_name);
      std::size_t       position    = 0;
      const auto        n_file      = take<std::uint64_t>(head, position);
      const auto        n_processes = take<std::uint32_t>(head, position);
      const auto        n_vectors   = take<std::uint32_t>(head, position);
      state = TimeState::from_text(head.substr(position));

      std::map<std::uint64_t, unsigned int> index;
      std::vector<std::uint64_t>            offset(1, 0);
      for (unsigned int k = 0; k < polytopes.size(); ++k)
        {
          index[polytopes[k]] = k;
          offset.push_back(offset.back() + n_entries[k]);
        }
      std::vector<bool> found(polytopes.size(), false);
      vectors.assign(n_vectors, std::vector<double>(offset.back()));
      for (unsigned int p = 0; p < n_processes; ++p)
        read_polytopes(read_record(in, file_name),
                       file_name,
                       index,
                       n_entries,
                       offset,
                       found,
                       vectors);
      AssertThrow(n_file == n_all &&
                    std::find(found.begin(), found.end(), false) == found.end(),
                  ExcMessage("The checkpoint '" + file_name +
                             "' was written for another mesh of " +
                             std::to_string(n_file) +
                             " polytopes: continue with the mesh and the "
                             "polytopes of the run that wrote it."));
    });
    return state;
  }



  template void
  internal::identify_polytopes(const AgglomerationHandler<2> &,
                               std::vector<std::uint64_t> &,
                               std::vector<unsigned int> &);
  template void
  internal::identify_polytopes(const AgglomerationHandler<3> &,
                               std::vector<std::uint64_t> &,
                               std::vector<unsigned int> &);
} // namespace Tessella
