#include "driver/memory/page_tables.hpp"

#include <algorithm>
#include <utility>

#include <datum/hw/registers.hpp>

#include "driver/memory/device_heap.hpp"

namespace datum {
namespace {

constexpr unsigned top_level = 3;
constexpr unsigned highest_leaf_level = 2;
constexpr std::uint64_t address_mask = ((1ULL << 52U) - 1) & ~(small_page_bytes - 1);

constexpr unsigned shift_of(unsigned level) noexcept { return 12 + 9 * level; }

constexpr std::uint64_t bytes_of(unsigned level) noexcept { return 1ULL << shift_of(level); }

constexpr unsigned index_of(std::uint64_t va, unsigned level) noexcept {
  return static_cast<unsigned>((va >> shift_of(level)) & 511U);
}

constexpr std::uint64_t address_in(std::uint64_t entry) noexcept { return entry & address_mask; }

bool is_leaf(std::uint64_t entry) noexcept { return hw::Pte{entry}.valid() && hw::Pte{entry}.leaf(); }

/// The part of a range that one entry of a table covers.
struct Part {
  unsigned index = 0;
  std::uint64_t va = 0;
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;  ///< bytes of the range ahead of the part
  bool whole = false;        ///< the part is all that the entry covers
};

template <class Step>
void for_each_part(unsigned level, std::uint64_t va, std::uint64_t bytes, Step&& step) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = va + done;
    const std::uint64_t to_entry_end = bytes_of(level) - (at & (bytes_of(level) - 1));
    const std::uint64_t part = std::min(to_entry_end, bytes - done);
    step(Part{index_of(at, level), at, part, done, part == bytes_of(level)});
    done += part;
  }
}

bool can_be_leaf(const Part& part, unsigned level, std::uint64_t target) noexcept {
  return part.whole && level <= highest_leaf_level && is_aligned(target, bytes_of(level));
}

PageTable* child_of(PageTable& table, unsigned index) noexcept {
  return table.children ? (*table.children)[index].get() : nullptr;
}

}  // namespace

Result<std::unique_ptr<PageTables>> PageTables::create(DeviceHeap& heap) {
  std::unique_ptr<PageTables> tables(new PageTables(heap));
  Result<std::unique_ptr<PageTable>> root = tables->make_table(top_level);
  if (!root.ok()) {
    return std::move(root).error();
  }
  tables->root_ = std::move(*root);
  return tables;
}

PageTables::~PageTables() {
  if (root_) {
    free_pages(*root_);
  }
  give_back(heap_, std::move(unused_tables_));
}

void PageTables::free_pages(PageTable& table) noexcept {
  if (table.children) {
    for (const std::unique_ptr<PageTable>& child : *table.children) {
      if (child) {
        free_pages(*child);
      }
    }
  }
  heap_.free_table(table.page);
}

Result<std::unique_ptr<PageTable>> PageTables::make_table(unsigned level) {
  auto table = std::make_unique<PageTable>();
  table->level = static_cast<std::uint8_t>(level);
  if (level != 0) {
    table->children = std::make_unique<std::array<std::unique_ptr<PageTable>, PageTable::entry_count>>();
  }
  if (++table_count_[level] > dirty_[level].capacity()) {
    dirty_[level].reserve(2 * table_count_[level]);  // room for all of them: marking never allocates
  }
  Result<DeviceAddress> page = heap_.allocate_table();
  if (!page.ok()) {
    return std::move(page).error();
  }
  table->page = *page;
  mark_dirty(*table, 0, PageTable::entry_count);  // the page holds anything
  return table;
}

void PageTables::mark_dirty(PageTable& table, unsigned first, unsigned end) noexcept {
  if (table.first_dirty == PageTable::clean) {
    dirty_[table.level].push_back(&table);
  }
  table.first_dirty = static_cast<std::uint16_t>(std::min<unsigned>(table.first_dirty, first));
  table.end_dirty = static_cast<std::uint16_t>(std::max<unsigned>(table.end_dirty, end));
}

void PageTables::write(PageTable& table, unsigned index, std::uint64_t entry) noexcept {
  const bool was = table.entries[index] != 0;
  table.entries[index] = entry;
  table.valid_count = static_cast<std::uint16_t>(table.valid_count + (entry != 0 ? 1 : 0) - (was ? 1 : 0));
  mark_dirty(table, index, index + 1);
}

/// The board may be walking the table: its page is only noted as unused.
void PageTables::drop_empty_child(PageTable& table, unsigned index) noexcept {
  std::unique_ptr<PageTable> child = std::move((*table.children)[index]);
  std::erase(dirty_[child->level], child.get());
  child->next_unused = std::move(unused_tables_);
  unused_tables_ = std::move(child);
  write(table, index, 0);
}

/// The table of level 0 for `va`; null: there is none.
PageTable* PageTables::last_table(std::uint64_t va) noexcept {
  PageTable* table = root_.get();
  while (table != nullptr && table->level != 0) {
    table = child_of(*table, index_of(va, table->level));
  }
  return table;
}

Status PageTables::set(std::uint64_t va, std::uint64_t bytes, std::uint64_t first_entry) {
  if (bytes == small_page_bytes) {  // most allocations are one page, in a table that is there
    if (PageTable* table = last_table(va)) {
      write(*table, index_of(va, 0), first_entry);
      return {};
    }
  }
  if (Status prepared = prepare(*root_, va, bytes, address_in(first_entry)); !prepared.ok()) {
    return prepared;
  }
  fill(*root_, va, bytes, first_entry);
  return {};
}

Status PageTables::prepare(PageTable& table, std::uint64_t va, std::uint64_t bytes,
                           std::uint64_t address_bits) {
  Status status;
  const unsigned level = table.level;
  for_each_part(level, va, bytes, [&](const Part& part) {
    PageTable* child = child_of(table, part.index);
    if (!status.ok() || level == 0) {
      return;
    }
    if (can_be_leaf(part, level, address_bits + part.before) &&
        (child == nullptr || child->valid_count == 0)) {
      if (child != nullptr) {
        drop_empty_child(table, part.index);
      }
      return;
    }
    if (child == nullptr) {
      Result<std::unique_ptr<PageTable>> made = make_table(level - 1);
      if (!made.ok()) {
        status = std::move(made).error();
        return;
      }
      child = made->get();
      (*table.children)[part.index] = std::move(*made);
      write(table, part.index, hw::Pte{}.set_valid(true).set_address_bytes(child->page.offset_bytes).raw);
    }
    status = prepare(*child, part.va, part.bytes, address_bits + part.before);
  });
  return status;
}

void PageTables::fill(PageTable& table, std::uint64_t va, std::uint64_t bytes, std::uint64_t entry) noexcept {
  if (table.level == 0) {
    const unsigned first = index_of(va, 0);
    const auto count = static_cast<unsigned>(bytes >> shift_of(0));
    for (unsigned index = first; index < first + count; ++index) {
      table.valid_count = static_cast<std::uint16_t>(table.valid_count + (table.entries[index] == 0 ? 1 : 0));
      table.entries[index] = entry;
      entry += small_page_bytes;
    }
    mark_dirty(table, first, first + count);
    return;
  }
  for_each_part(table.level, va, bytes, [&](const Part& part) {
    PageTable* child = child_of(table, part.index);
    if (child != nullptr) {
      fill(*child, part.va, part.bytes, entry + part.before);
    } else {
      write(table, part.index, entry + part.before);
    }
  });
}

Status PageTables::make_replaceable(std::uint64_t va, std::uint64_t bytes, std::uint64_t first_entry) {
  return make_replaceable_in(*root_, va, bytes, address_in(first_entry));
}

Status PageTables::make_replaceable_in(PageTable& table, std::uint64_t va, std::uint64_t bytes,
                                       std::uint64_t address_bits) {
  Status status;
  const unsigned level = table.level;
  if (level == 0) {
    return status;
  }
  for_each_part(level, va, bytes, [&](const Part& part) {
    if (!status.ok()) {
      return;
    }
    PageTable* child = child_of(table, part.index);
    if (child == nullptr) {
      if (can_be_leaf(part, level, address_bits + part.before)) {
        return;
      }
      Result<PageTable*> made = split_leaf(table, part.index);
      if (!made.ok()) {
        status = std::move(made).error();
        return;
      }
      child = *made;
    }
    status = make_replaceable_in(*child, part.va, part.bytes, address_bits + part.before);
  });
  return status;
}

bool PageTables::replace(std::uint64_t va, std::uint64_t bytes, std::uint64_t first_entry) noexcept {
  const bool seen = seen_in(*root_, va, bytes);
  fill(*root_, va, bytes, first_entry);
  return seen;
}

bool PageTables::seen_in(const PageTable& table, std::uint64_t va, std::uint64_t bytes) noexcept {
  bool seen = false;
  for_each_part(table.level, va, bytes, [&](const Part& part) {
    const PageTable* const child = table.children ? (*table.children)[part.index].get() : nullptr;
    seen = seen || (child != nullptr ? seen_in(*child, part.va, part.bytes)
                                     : table.entries[part.index] != 0 && table.on_board[part.index]);
  });
  return seen;
}

bool PageTables::clear(std::uint64_t va, std::uint64_t bytes) noexcept {
  if (bytes == small_page_bytes) {
    if (PageTable* table = last_table(va)) {
      const unsigned index = index_of(va, 0);
      const bool seen = table->entries[index] != 0 && table->on_board[index];
      write(*table, index, 0);
      return seen;
    }
  }
  return clear_in(*root_, va, bytes);
}

bool PageTables::clear_in(PageTable& table, std::uint64_t va, std::uint64_t bytes) noexcept {
  bool seen = false;
  if (table.level == 0) {
    const unsigned first = index_of(va, 0);
    const auto count = static_cast<unsigned>(bytes >> shift_of(0));
    for (unsigned index = first; index < first + count; ++index) {
      const bool was = table.entries[index] != 0;
      seen = seen || (was && table.on_board[index]);
      table.valid_count = static_cast<std::uint16_t>(table.valid_count - (was ? 1 : 0));
      table.entries[index] = 0;
    }
    mark_dirty(table, first, first + count);
    return seen;
  }
  for_each_part(table.level, va, bytes, [&](const Part& part) {
    PageTable* child = child_of(table, part.index);
    if (child != nullptr) {
      seen = clear_in(*child, part.va, part.bytes) || seen;
    } else if (is_leaf(table.entries[part.index])) {
      seen = seen || table.on_board[part.index];
      write(table, part.index, 0);
    }
  });
  return seen;
}

Status PageTables::split(std::uint64_t va) {
  PageTable* table = root_.get();
  while (table->level != 0 && !is_aligned(va, bytes_of(table->level))) {
    const unsigned index = index_of(va, table->level);
    PageTable* child = child_of(*table, index);
    if (child == nullptr) {
      if (!is_leaf(table->entries[index])) {
        return {};
      }
      Result<PageTable*> made = split_leaf(*table, index);
      if (!made.ok()) {
        return std::move(made).error();
      }
      child = *made;
    }
    table = child;
  }
  return {};
}

/// The board reads the leaf or the table in its place, whichever it meets: both lead to the same memory.
Result<PageTable*> PageTables::split_leaf(PageTable& table, unsigned index) {
  Result<std::unique_ptr<PageTable>> made = make_table(table.level - 1U);
  if (!made.ok()) {
    return std::move(made).error();
  }
  PageTable& child = **made;
  for (unsigned part = 0; part < PageTable::entry_count; ++part) {
    child.entries[part] = table.entries[index] + part * bytes_of(child.level);
    child.on_board[part] = table.on_board[index];
  }
  child.valid_count = PageTable::entry_count;
  (*table.children)[index] = std::move(*made);
  write(table, index, hw::Pte{}.set_valid(true).set_address_bytes(child.page.offset_bytes).raw);
  return &child;
}

void PageTables::drop_empty_tables(std::uint64_t va, std::uint64_t bytes) noexcept {
  drop_empty_in(*root_, va, bytes);
}

void PageTables::drop_empty_in(PageTable& table, std::uint64_t va, std::uint64_t bytes) noexcept {
  if (table.level == 0) {
    return;
  }
  const unsigned level = table.level;
  for_each_part(level, va, bytes, [&](const Part& part) {
    PageTable* child = child_of(table, part.index);
    if (child == nullptr) {
      return;
    }
    drop_empty_in(*child, part.va, part.bytes);
    if (part.whole && child->valid_count == 0) {
      drop_empty_child(table, part.index);
    }
  });
}

TableWrites PageTables::take_changes() {
  TableWrites writes;
  for (std::vector<PageTable*>& level : dirty_) {
    for (PageTable* table : level) {
      writes.pieces.push_back({table->page + table->first_dirty * sizeof(std::uint64_t),
                               writes.entries.size(),
                               static_cast<std::size_t>(table->end_dirty - table->first_dirty)});
      writes.entries.insert(writes.entries.end(), table->entries.begin() + table->first_dirty,
                            table->entries.begin() + table->end_dirty);
    }
  }
  for (std::vector<PageTable*>& level : dirty_) {
    for (PageTable* table : level) {
      for (unsigned index = table->first_dirty; index < table->end_dirty; ++index) {
        table->on_board[index] = table->entries[index] != 0;
      }
      table->first_dirty = PageTable::clean;
      table->end_dirty = 0;
    }
    level.clear();
  }
  return writes;
}

PageTable* PageTables::find_table(PageTable& table, DeviceAddress page) noexcept {
  if (table.page == page) {
    return &table;
  }
  for (unsigned index = 0; table.children && index < PageTable::entry_count; ++index) {
    if (PageTable* child = child_of(table, index)) {
      if (PageTable* found = find_table(*child, page)) {
        return found;
      }
    }
  }
  return nullptr;
}

void PageTables::put_back(const TableWrites& writes) noexcept {
  for (const TableWrites::Piece& piece : writes.pieces) {
    const std::uint64_t page = align_down(piece.at.offset_bytes, small_page_bytes);
    if (PageTable* table = find_table(*root_, {page, piece.at.ordinal})) {
      const auto first = static_cast<unsigned>((piece.at.offset_bytes - page) / sizeof(std::uint64_t));
      mark_dirty(*table, first, first + static_cast<unsigned>(piece.count));
    }
  }
}

std::unique_ptr<PageTable> PageTables::take_unused_tables() noexcept { return std::move(unused_tables_); }

void PageTables::give_back(DeviceHeap& heap, std::unique_ptr<PageTable> unused) noexcept {
  while (unused != nullptr) {
    heap.free_table(unused->page);
    unused = std::move(unused->next_unused);
  }
}

}  // namespace datum
