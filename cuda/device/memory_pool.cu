// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <cstdint>
#include <map>
#include <mutex>

#include "memory.h"
#include "memory_pool.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr std::size_t smallest_piece = std::size_t(4) << 20,
                              largest_piece  = std::size_t(64) << 20;

        struct Piece
        {
          struct Entry
          {
            std::size_t begin;
            bool        used;
          };
          std::size_t size = 0, top = 0, n_used = 0;
          /// Arrays from the begin of the piece to @p top; the last one is in
          /// use.
          std::vector<Entry> entries;
          /// Whether a pool takes memory from it.
          bool open = false;
        };

        using Address = std::uintptr_t;

        /// Pieces of all threads by their addresses. Arrays may be released
        /// when static objects are destroyed, so that this one never is.
        struct Pieces
        {
          std::mutex               mutex;
          std::map<Address, Piece> list;
        };

        Pieces &
        pieces()
        {
          static Pieces *const result = new Pieces;
          return *result;
        }

        /// Pool of memory of a thread.
        struct ThreadPool
        {
          unsigned int depth = 0;
          /// Present piece; zero if there is none.
          Address     piece     = 0;
          std::size_t next_size = smallest_piece;
        };

        ThreadPool &
        pool()
        {
          static thread_local ThreadPool result;
          return result;
        }

        /// Frees a piece without arrays that no pool uses.
        void
        free_if_unused(Pieces &all, const Address address) noexcept
        {
          const auto found = all.list.find(address);
          if (found == all.list.end() || found->second.open ||
              found->second.n_used > 0)
            return;
          all.list.erase(found);
          if (cudaFree(reinterpret_cast<void *>(address)) != cudaSuccess)
            cudaGetLastError();
        }

        void
        leave_piece(Pieces &all, ThreadPool &present) noexcept
        {
          if (present.piece == 0)
            return;
          all.list[present.piece].open = false;
          free_if_unused(all, present.piece);
          present.piece = 0;
        }
      } // namespace



      void
      open_pool()
      {
        ++pool().depth;
      }



      void
      close_pool() noexcept
      {
        ThreadPool &present = pool();
        if (present.depth == 0 || --present.depth > 0)
          return;
        Pieces                           &all = pieces();
        const std::lock_guard<std::mutex> lock(all.mutex);
        leave_piece(all, present);
        present.next_size = smallest_piece;
      }



      void *
      allocate_in_pool(const std::size_t n)
      {
        ThreadPool &present = pool();
        if (present.depth == 0 || n == 0 || n > largest_piece / 4)
          return nullptr;
        refuse_recording("an allocation of memory");
        const std::size_t                 bytes = (n + 255) / 256 * 256;
        Pieces                           &all   = pieces();
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (present.piece == 0 ||
            all.list[present.piece].top + bytes > all.list[present.piece].size)
          {
            leave_piece(all, present);
            std::size_t size = present.next_size;
            while (size < 4 * bytes && size < largest_piece)
              size *= 2;
            void *memory = nullptr;
            if (cudaMalloc(&memory, size) != cudaSuccess)
              {
                // The array alone may still have room.
                cudaGetLastError();
                return nullptr;
              }
            present.next_size = size < largest_piece ? 2 * size : size;
            present.piece     = reinterpret_cast<Address>(memory);
            Piece &piece      = all.list[present.piece];
            piece.size        = size;
            piece.open        = true;
          }
        Piece            &piece = all.list[present.piece];
        const std::size_t begin = piece.top;
        piece.entries.push_back({begin, true});
        piece.top += bytes;
        ++piece.n_used;
        return reinterpret_cast<void *>(present.piece + begin);
      }



      bool
      release_in_pool(void *memory) noexcept
      {
        const Address address = reinterpret_cast<Address>(memory);
        Pieces       &all     = pieces();
        const std::lock_guard<std::mutex> lock(all.mutex);
        auto                              found = all.list.upper_bound(address);
        if (found == all.list.begin())
          return false;
        --found;
        Piece            &piece = found->second;
        const std::size_t begin = address - found->first;
        if (begin >= piece.size)
          return false;
        auto &entries = piece.entries;
        // Arrays of the set-up are released soon: they are near the end.
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
          if (entry->begin == begin)
            {
              entry->used = false;
              --piece.n_used;
              break;
            }
        while (!entries.empty() && !entries.back().used)
          {
            piece.top = entries.back().begin;
            entries.pop_back();
          }
        free_if_unused(all, found->first);
        return true;
      }



      PoolUse
      pool_use()
      {
        Pieces                           &all = pieces();
        const std::lock_guard<std::mutex> lock(all.mutex);
        PoolUse                           result;
        for (const auto &piece : all.list)
          {
            ++result.n_pieces;
            result.n_arrays += piece.second.n_used;
            result.n_bytes += piece.second.size;
          }
        return result;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
