// The allocations of a context: the live ones, and freed ones of one page that wait for the next of their
// kind.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "driver/memory/address_space.hpp"
#include "driver/memory/brief_mutex.hpp"
#include "driver/memory/memory_backing.hpp"

namespace datum {

/// Every allocation stands in one of several shards, by the processor that made it, so that threads on
/// different processors rarely touch the same memory. An idle page keeps its place in the page tables for the
/// next allocation; the moment before the board is told of changes, all that are idle are taken out of them.
/// What is idle holds nothing of another context's, and the board never saw it mapped. Thread safe.
class DATUM_LOCKABLE PageBooks {
 public:
  static constexpr std::uint64_t page_bytes = small_page_bytes;

  /// `next_id`: of the next allocation of the process. Outlives the books.
  explicit PageBooks(std::atomic<std::uint64_t>& next_id) noexcept : next_id_(next_id) {}

  ~PageBooks();
  PageBooks(const PageBooks&) = delete;
  PageBooks& operator=(const PageBooks&) = delete;

  /// The page tables, at first. They outlive what is idle, or their board has forgotten them.
  void add_space(AddressSpace& space);

  /// Commits of all spaces so far: an allocation whose pages were mapped after the count was taken and that
  /// is freed before it changes was seen by no board.
  [[nodiscard]] std::uint64_t commits() const noexcept;

  void add(std::shared_ptr<MemoryBacking> backing) noexcept;
  /// Of a live one.
  std::shared_ptr<MemoryBacking> remove(MemoryBacking& backing) noexcept;
  /// Null: nothing is live. Its place in the list is constant only while nobody else uses the books.
  [[nodiscard]] MemoryBacking* first() noexcept;

  struct Reused {
    MemoryBacking* page = nullptr;
    std::uint64_t id = 0;  ///< for the allocation
  };

  /// A page that was idle is live now. Null: there is none of that kind. Where it is not mapped, the caller
  /// maps it and marks it so.
  [[nodiscard]] Reused reuse(const PageKind& kind) noexcept;
  /// A live one becomes idle, mapped as it is: only where no board can have seen it. Whether it did.
  [[nodiscard]] bool keep_mapped(MemoryBacking& backing) noexcept;
  /// A live one that is mapped nowhere becomes idle. Whether it did.
  [[nodiscard]] bool keep_unmapped(MemoryBacking& backing) noexcept;
  /// All that is idle goes back to where it was taken.
  void give_back() noexcept;

  /// Nothing becomes live, or ends, while it is locked.
  void lock() noexcept DATUM_ACQUIRES();
  void unlock() noexcept DATUM_RELEASES();
  /// Under the lock: what is idle is mapped nowhere afterwards.
  void withdraw() noexcept DATUM_REQUIRES(this);

 private:
  static constexpr std::size_t shard_count = 8;
  static constexpr std::size_t most_kinds = 8;
  static constexpr std::uint64_t ids_at_once = 64;
  static constexpr unsigned most_idle = 32;  // of a kind in a shard: enough for a burst, and little memory

  struct Stack {
    PageKind kind;
    unsigned count = 0;
    BackingList mapped;
    BackingList unmapped;
  };

  struct alignas(64) Shard {
    BriefMutex mutex;
    BackingList live DATUM_GUARDED_BY(mutex);
    std::array<Stack, most_kinds> stacks DATUM_GUARDED_BY(mutex);
    std::size_t kinds DATUM_GUARDED_BY(mutex) = 0;
    std::uint64_t next_id DATUM_GUARDED_BY(mutex) = 0;
    std::uint64_t end_id DATUM_GUARDED_BY(mutex) = 0;

    Stack* stack_of(const PageKind& kind) noexcept DATUM_REQUIRES(mutex);
    Stack* stack_for(const PageKind& kind) noexcept DATUM_REQUIRES(mutex);
  };

  [[nodiscard]] static std::size_t here() noexcept;
  static bool make_idle(Shard& shard, MemoryBacking& backing, BackingList Stack::*list) noexcept
      DATUM_REQUIRES(shard.mutex);

  std::array<Shard, shard_count> shards_;
  std::atomic<std::uint64_t>& next_id_;
  std::vector<AddressSpace*> spaces_;
};

}  // namespace datum
