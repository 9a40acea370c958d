// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "state_file.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <deal.II/grid/cell_id.h>

#include <tessella/base/checksum.h>
#include <tessella/base/on_all_processes.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>
#include <system_error>

#include "../common/ends_with.h"
#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      const std::string magic  = "tessella-space-time-state";
      const std::string ending = ".state", previous_ending = ".previous.state";

      /// Returns the last line of a file, given the checksum of the text above
      /// it.
      std::string
      last_line(const std::uint64_t sum)
      {
        std::ostringstream out;
        out << "checksum " << std::hex << std::setw(16) << std::setfill('0')
            << sum << '\n';
        return out.str();
      }

      /// Text of a number; "-" if it is missing.
      std::string
      text_of(const double number)
      {
        if (!std::isfinite(number))
          return "-";
        std::ostringstream out;
        out << std::setprecision(17) << number;
        return out.str();
      }

      double
      number_of(std::istream &in)
      {
        std::string word;
        in >> word;
        double number = std::numeric_limits<double>::quiet_NaN();
        if (word != "-")
          {
            std::istringstream text(word);
            if (!(text >> number))
              in.setstate(std::ios::failbit);
          }
        return number;
      }

      /// Returns the reason why a file is not a complete state; empty if it is
      /// one.
      std::string
      defect(const std::string &file)
      {
        std::ifstream in(file, std::ios::binary);
        std::string   first;
        // The first line of a file of another kind may be long.
        for (char c; first.size() < 100 && in.get(c) && c != '\n';)
          first += c;
        const bool        is_state = first.compare(0, magic.size(), magic) == 0;
        const std::string version =
          is_state ? first.substr(magic.size()) : std::string();

        const std::size_t length = last_line(0).size();
        in.clear();
        in.seekg(0, std::ios::end);
        const std::streamoff size = in.tellg();
        std::string          end(length, ' ');
        if (size >= static_cast<std::streamoff>(length))
          {
            in.seekg(size - static_cast<std::streamoff>(length));
            in.read(&end[0], static_cast<std::streamsize>(length));
          }
        const bool has_sum = in && end.compare(0, 9, "checksum ") == 0;
        if (!has_sum && version == " 2")
          return "";
        if (!has_sum && is_state)
          return "is damaged, since its end is missing or was changed";
        if (!has_sum)
          return "is not a state that this program wrote";

        std::uint64_t     sum = checksum_start;
        std::vector<char> buffer(1 << 20);
        in.seekg(0);
        for (std::streamoff rest = size - static_cast<std::streamoff>(length);
             rest > 0;)
          {
            const std::streamoff n =
              std::min<std::streamoff>(rest, buffer.size());
            in.read(buffer.data(), n);
            if (!in)
              return "cannot be read to its end";
            sum = checksum(buffer.data(), n, sum);
            rest -= n;
          }
        if (end != last_line(sum))
          return "is damaged, since its checksum is wrong";
        if (!is_state)
          return "is not a state that this program wrote";
        if (version != " 3")
          return "has the format" + version +
                 ", but this program reads formats 2 and 3";
        return "";
      }

      /// Reads the first lines of a complete file, up to the polytopes. Returns
      /// the number of unknowns.
      std::uint64_t
      read_header(std::istream &in, State &state)
      {
        std::string   word, version;
        std::uint64_t n_dofs = 0;
        in >> word >> version;
        state.history     = RunHistory();
        state.has_history = version == "3";
        if (!state.has_history)
          {
            in >> state.time >> state.step >> n_dofs;
            return n_dofs;
          }
        RunHistory &history = state.history;
        std::size_t n       = 0;
        in >> word >> state.time >> word >> state.step >> word >> n_dofs >>
          word >> history.n_rejected >> word;
        for (double &sum : history.error_sums)
          sum = number_of(in);
        in >> word >> n;
        for (std::size_t i = 0; i < n && in; ++i)
          {
            SlabRecord slab;
            in >> slab.time >> slab.length >> slab.elements >> slab.unknowns >>
              slab.iterations;
            slab.jump  = number_of(in);
            slab.mass  = number_of(in);
            slab.error = number_of(in);
            history.slabs.push_back(slab);
          }
        in >> word >> history.next_field >> word >> n;
        for (std::size_t i = 0; i < n && in; ++i)
          {
            std::pair<double, std::string> field;
            in >> field.first;
            in.ignore(); // skips the blank before a name that may contain
                         // blanks
            std::getline(in, field.second);
            history.fields.push_back(field);
          }
        return n_dofs;
      }

      /// Returns ": ..." with advice on what to do about a file that cannot be
      /// used.
      std::string
      advice(const std::string &file)
      {
        const std::string other = other_state(file);
        std::error_code   error;
        if (!other.empty() && std::filesystem::is_regular_file(other, error) &&
            defect(other).empty())
          {
            std::ifstream in(other);
            State         state;
            read_header(in, state);
            if (in)
              return ": the other state of that run, '" + other +
                     "' of t = " + short_text(state.time) +
                     ", is complete; set Time/Restart from to it.";
          }
        return ": there is no other complete state beside it; take a copy, or "
               "compute anew.";
      }

      /// Returns the first cell of a polytope, which identifies it for any
      /// number of processes.
      template <int dim>
      CellId
      first_cell(const AgglomerationHandler<dim> &handler, const unsigned int k)
      {
        const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
        return handler.active_cell(mesh.subcell_cell[mesh.subcell_offset[k]])
          ->id();
      }
    } // namespace



    std::string
    other_state(const std::string &file)
    {
      if (ends_with(file, previous_ending))
        return file.substr(0, file.size() - previous_ending.size()) + ending;
      if (ends_with(file, ending))
        return file.substr(0, file.size() - ending.size()) + previous_ending;
      return "";
    }



    template <int dim>
    void
    write_state(const std::string               &file,
                const std::string               &latest,
                const State                     &state,
                const AgglomerationHandler<dim> &handler)
    {
      const std::vector<std::uint64_t> &offset =
        handler.polytopic_dofs().dof_offset;
      std::vector<std::string> own;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          std::ostringstream line;
          line << std::setprecision(17) << first_cell(handler, k).to_string()
               << ' ' << offset[k + 1] - offset[k];
          for (auto i = offset[k]; i < offset[k + 1]; ++i)
            line << ' ' << state.value.begin()[i];
          own.push_back(line.str());
        }
      std::vector<std::pair<CellId, std::string>> lines;
      for (const std::vector<std::string> &list :
           Utilities::MPI::gather(MPI_COMM_WORLD, own))
        for (const std::string &line : list)
          lines.emplace_back(CellId(line.substr(0, line.find(' '))), line);
      std::sort(lines.begin(), lines.end());

      const RunHistory  &history = state.history;
      std::ostringstream head;
      head << std::setprecision(17) << magic << " 3\ntime " << state.time
           << " step " << state.step << " unknowns " << handler.n_dofs()
           << "\nrepeated " << history.n_rejected << " errors";
      for (const double sum : history.error_sums)
        head << ' ' << text_of(sum);
      head << "\nslabs " << history.slabs.size() << '\n';
      for (const SlabRecord &slab : history.slabs)
        head << slab.time << ' ' << slab.length << ' ' << slab.elements << ' '
             << slab.unknowns << ' ' << slab.iterations << ' '
             << text_of(slab.jump) << ' ' << text_of(slab.mass) << ' '
             << text_of(slab.error) << '\n';
      head << "next-field " << history.next_field << " fields "
           << history.fields.size() << '\n';
      for (const auto &field : history.fields)
        head << field.first << ' ' << field.second << '\n';

      const std::string other = other_state(file);
      const bool        keep  = latest == file;
      const std::string part =
        keep ? file.substr(0, file.size() - ending.size()) + ".next" + ending
             : file;
      write_file(part, [&](std::ostream &out) {
        std::uint64_t sum = checksum_start;
        const auto    put = [&](const std::string &text) {
          sum = checksum(text, sum);
          out << text;
        };
        put(head.str());
        for (const auto &line : lines)
          put(line.second + '\n');
        out << last_line(sum);
      });
      on_all_processes(MPI_COMM_WORLD, [&]() {
        if (!is_first_process())
          return;
        namespace fs = std::filesystem;
        std::error_code error;
        if (!keep)
          {
            if (latest != other)
              fs::remove(other, error);
            return;
          }
        // A second name ensures that there is always a complete file with the
        // first name. On file systems without hard links, that file is missing
        // for a moment.
        fs::remove(other, error);
        fs::create_hard_link(file, other, error);
        if (error)
          fs::rename(file, other, error);
        fs::rename(part, file, error);
        AssertThrow(!error,
                    ExcMessage("The state '" + part +
                               "' cannot be given the name '" + file +
                               "': " + error.message() + "."));
      });
    }



    template <int dim>
    void
    read_state(const std::string               &file,
               const AgglomerationHandler<dim> &handler,
               State                           &state)
    {
      const std::string what  = "The file '" + file + "' of Time/Restart from ";
      const std::string wrong = defect(file);
      AssertThrow(wrong.empty(), ExcMessage(what + wrong + advice(file)));
      std::ifstream       in(file);
      const std::uint64_t n_dofs = read_header(in, state);
      // This cannot happen if the checksum is correct.
      AssertThrow(in,
                  ExcMessage(
                    what + "is damaged, since its first lines cannot be read" +
                    advice(file)));
      const std::string same_problem =
        ": go on with the mesh, polytopes and "
        "degree that it was written with.";
      AssertThrow(n_dofs == handler.n_dofs(),
                  ExcMessage("The state in '" + file + "' has " +
                             std::to_string(n_dofs) +
                             " unknowns, but this mesh and degree have " +
                             std::to_string(handler.n_dofs()) + same_problem));
      std::map<std::string, unsigned int> polytopes;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        polytopes[first_cell(handler, k).to_string()] = k;
      const std::vector<std::uint64_t> &offset =
        handler.polytopic_dofs().dof_offset;
      std::uint64_t n_read = 0;
      for (std::string line; std::getline(in, line);)
        {
          std::istringstream words(line);
          std::string        id;
          std::uint64_t      n_here = 0;
          if (!(words >> id >> n_here) || id == "checksum")
            continue;
          n_read += n_here;
          const auto polytope = polytopes.find(id);
          if (polytope == polytopes.end())
            continue;
          const unsigned int k = polytope->second;
          AssertThrow(n_here == offset[k + 1] - offset[k],
                      ExcMessage("The state in '" + file +
                                 "' has another degree on a polytope" +
                                 same_problem));
          for (auto i = offset[k]; i < offset[k + 1]; ++i)
            words >> state.value.begin()[i];
          AssertThrow(words,
                      ExcMessage(
                        what + "is damaged, since a line of it ends too early" +
                        advice(file)));
          polytopes.erase(polytope);
        }
      AssertThrow(n_read == n_dofs,
                  ExcMessage(what + "is damaged, since it ends too early" +
                             advice(file)));
      AssertThrow(polytopes.empty(),
                  ExcMessage("The state in '" + file + "' has other polytopes" +
                             same_problem));
    }



    template void
    write_state(const std::string &,
                const std::string &,
                const State &,
                const AgglomerationHandler<2> &);
    template void
    write_state(const std::string &,
                const std::string &,
                const State &,
                const AgglomerationHandler<3> &);
    template void
    read_state(const std::string &, const AgglomerationHandler<2> &, State &);
    template void
    read_state(const std::string &, const AgglomerationHandler<3> &, State &);
  } // namespace Application
} // namespace Tessella
