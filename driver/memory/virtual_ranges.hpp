// The book of a context's reserved virtual addresses: what is mapped where, and with which access.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace datum {

class PhysicalMemory;

enum class PageAccess : std::uint8_t { none, read_write, read_only };

/// Neighbouring pages that are alike.
struct VirtualPiece {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
  std::uintptr_t reservation = 0;          ///< base of the reservation that it lies in
  std::shared_ptr<PhysicalMemory> object;  ///< null: nothing is mapped
  std::uint64_t offset = 0;                ///< in the object, of the first byte
  std::uint64_t mapping = 0;               ///< number of the mapping; 0: none
  PageAccess access = PageAccess::none;    ///< also of pages where nothing is mapped

  [[nodiscard]] std::uintptr_t end() const noexcept { return base + bytes; }
};

/// Addresses and sizes are multiples of 4 KiB, save where a single address is asked about. Knows no board.
/// Not thread safe.
class VirtualRanges {
 public:
  struct Range {
    std::uintptr_t base = 0;
    std::uint64_t bytes = 0;
  };

  /// A reservation, which overlaps none that is there. Nothing is mapped in it, and nobody may access it.
  void add_reservation(Range range);
  /// And with it all that is mapped there.
  void remove_reservation(std::uintptr_t base);
  /// The one that `address` lies in.
  [[nodiscard]] std::optional<Range> reservation_at(std::uintptr_t address) const;
  [[nodiscard]] std::vector<Range> reservations() const;

  /// Makes room for a change of the range, which is reserved: none of the next three needs memory then.
  void cut(Range range);
  /// The range lies in one reservation, and nothing is mapped there.
  void map(Range range, const std::shared_ptr<PhysicalMemory>& object, std::uint64_t offset,
           std::uint64_t mapping, PageAccess access);
  /// Nothing is mapped any longer, and nobody may access it. The range is reserved.
  void unmap(Range range);
  /// The range is reserved.
  void set_access(Range range, PageAccess access);

  /// Calls visit(piece) for the pieces that the range touches, whole, in order, until one is not reserved or
  /// visit returns false. Whether it came to the end.
  template <class Visit>
  bool visit(Range range, Visit&& visit) const {
    std::uintptr_t at = range.base;
    for (auto piece = at_or_before(at); piece != pieces_.end() && piece->second.base <= at; ++piece) {
      if (!visit(piece->second)) {
        return false;
      }
      at = piece->second.end();
      if (at >= range.base + range.bytes) {
        return true;
      }
    }
    return false;
  }

  /// The pieces of a range, cut to it. Empty: not all of it is reserved.
  [[nodiscard]] std::vector<VirtualPiece> pieces_of(Range range) const;
  /// Of how many bytes, from `range.base` on and inside the range, the access is that of the first.
  [[nodiscard]] std::optional<VirtualPiece> alike(Range range) const;
  /// All pages that were mapped together with `address` and still stand in one row with it; access is that at
  /// `address`. Empty: nothing is mapped there.
  [[nodiscard]] std::optional<VirtualPiece> mapping_at(std::uintptr_t address) const;

 private:
  using Pieces = std::map<std::uintptr_t, VirtualPiece>;  ///< by base

  [[nodiscard]] Pieces::const_iterator at_or_before(std::uintptr_t address) const;
  void split(std::uintptr_t at);
  void merge(Range range);

  std::map<std::uintptr_t, std::uint64_t> reservations_;  ///< base -> bytes
  Pieces pieces_;                                         ///< of all reservations, without gaps
};

}  // namespace datum
