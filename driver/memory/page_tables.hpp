// The shadow of one space's page tables: what the entries are, and which of them the board does not have yet.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

namespace datum {

class DeviceHeap;

/// One table of 512 entries at `page` of device memory.
struct PageTable {
  static constexpr unsigned entry_count = 512;
  static constexpr unsigned clean = entry_count;

  DeviceAddress page{};
  std::uint8_t level = 0;
  std::uint16_t first_dirty = clean;  ///< entries [first_dirty, end_dirty) differ from the board's, or may
  std::uint16_t end_dirty = 0;
  std::uint16_t valid_count = 0;
  std::array<std::uint64_t, entry_count> entries{};
  std::bitset<entry_count> on_board;  ///< valid entries that the board may have seen
  std::unique_ptr<std::array<std::unique_ptr<PageTable>, entry_count>> children;  ///< above level 0
  std::unique_ptr<PageTable> next_unused;                                         ///< once out of use
};

/// Entries for the board, in the order in which they are to be written: a table before the entry that leads
/// to it.
struct TableWrites {
  struct Piece {
    DeviceAddress at{};
    std::size_t first = 0;  ///< in `entries`
    std::size_t count = 0;
  };

  std::vector<Piece> pieces;
  std::vector<std::uint64_t> entries;
};

/// Not thread safe.
class PageTables {
 public:
  /// Takes a page for the root. out_of_device_memory.
  static Result<std::unique_ptr<PageTables>> create(DeviceHeap& heap);
  /// Gives all table pages back: the board must not use them any longer.
  ~PageTables();
  PageTables(const PageTables&) = delete;
  PageTables& operator=(const PageTables&) = delete;

  [[nodiscard]] DeviceAddress root() const noexcept { return root_->page; }

  /// Sets the leaves of [va, va+bytes) to `first_entry`, its address counted up. `first_entry` is valid and a
  /// leaf. Replaces what is mapped there if it has leaves of the same sizes. out_of_device_memory: no table
  /// page; the range is then as it was, save for tables that stay empty.
  Status set(std::uint64_t va, std::uint64_t bytes, std::uint64_t first_entry);
  /// Splits leaves of the range, all of which is mapped, that are too large for what is to be there:
  /// `first_entry`, its address counted up. out_of_device_memory: no table page; what is mapped is as it was.
  Status make_replaceable(std::uint64_t va, std::uint64_t bytes, std::uint64_t first_entry);
  /// After make_replaceable: the leaves of the range become others in their place. Whether the board may have
  /// seen any of them.
  bool replace(std::uint64_t va, std::uint64_t bytes, std::uint64_t first_entry) noexcept;
  /// Clears the leaves of the range, which no leaf reaches into or out of. Whether the board may have seen
  /// any of them.
  bool clear(std::uint64_t va, std::uint64_t bytes) noexcept;
  /// Replaces a leaf that reaches across `va` by smaller ones to the same memory, so that none does.
  /// out_of_device_memory: no table page; what is mapped is as it was.
  Status split(std::uint64_t va);
  /// Takes tables out that have become empty and stand for nothing but addresses in the range.
  void drop_empty_tables(std::uint64_t va, std::uint64_t bytes) noexcept;

  /// What changed since the last call; from here on the board may have seen it.
  TableWrites take_changes();
  /// The next take_changes gives the writes again: they did not all reach the board.
  void put_back(const TableWrites& writes) noexcept;

  [[nodiscard]] bool has_unused_tables() const noexcept { return unused_tables_ != nullptr; }

  /// A chain of tables that went out of use: for give_back when the board no longer walks them.
  std::unique_ptr<PageTable> take_unused_tables() noexcept;
  /// Their pages are free.
  static void give_back(DeviceHeap& heap, std::unique_ptr<PageTable> unused) noexcept;

 private:
  explicit PageTables(DeviceHeap& heap) : heap_(heap) {}

  Result<std::unique_ptr<PageTable>> make_table(unsigned level);
  [[nodiscard]] PageTable* last_table(std::uint64_t va) noexcept;
  Status prepare(PageTable& table, std::uint64_t va, std::uint64_t bytes, std::uint64_t address_bits);
  void fill(PageTable& table, std::uint64_t va, std::uint64_t bytes, std::uint64_t entry) noexcept;
  Status make_replaceable_in(PageTable& table, std::uint64_t va, std::uint64_t bytes,
                             std::uint64_t address_bits);
  [[nodiscard]] static bool seen_in(const PageTable& table, std::uint64_t va, std::uint64_t bytes) noexcept;
  bool clear_in(PageTable& table, std::uint64_t va, std::uint64_t bytes) noexcept;
  Result<PageTable*> split_leaf(PageTable& table, unsigned index);
  void drop_empty_in(PageTable& table, std::uint64_t va, std::uint64_t bytes) noexcept;
  void write(PageTable& table, unsigned index, std::uint64_t entry) noexcept;
  void drop_empty_child(PageTable& table, unsigned index) noexcept;
  void free_pages(PageTable& table) noexcept;
  void mark_dirty(PageTable& table, unsigned first, unsigned end) noexcept;
  static PageTable* find_table(PageTable& table, DeviceAddress page) noexcept;

  DeviceHeap& heap_;
  std::unique_ptr<PageTable> root_;
  std::array<std::vector<PageTable*>, 4> dirty_;  ///< by level
  std::array<std::size_t, 4> table_count_{};      ///< by level; made so far
  std::unique_ptr<PageTable> unused_tables_;      ///< a chain, so that dropping one takes no memory
};

}  // namespace datum
