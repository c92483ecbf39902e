// Allocations that other processes may share: each has one file and one descriptor, however many handles
// there are.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>
#include <datum/board/pcie_function.hpp>

#include "driver/memory/exported_file.hpp"
#include "driver/memory/ipc_broker.hpp"
#include "driver/memory/ipc_handle.hpp"
#include "driver/memory/memory_backing.hpp"

namespace datum {

class DmaMap;

/// The exported allocations of a driver and the handles that are out. Thread safe.
class ExportTable {
 public:
  ExportTable();
  ~ExportTable();
  ExportTable(const ExportTable&) = delete;
  ExportTable& operator=(const ExportTable&) = delete;

  /// The handle of an allocation that is exported already, counted once more unless it is of a kind that is
  /// never put. No kernel call. Empty: it is not exported.
  std::optional<IpcHandleBytes> get(std::uint64_t allocation_id, bool counted = true);
  /// The allocation is exported from now on. The first call starts the broker; where it cannot be had,
  /// handles work for those who send the descriptor.
  void add(std::uint64_t allocation_id, std::unique_ptr<ExportedFile> file);
  [[nodiscard]] bool has(std::uint64_t allocation_id) const;
  /// ExportedFile::offer. invalid_argument: the allocation is not exported.
  Status offer(std::uint64_t allocation_id, ExternalTypes types, DmaBufs& dma_bufs);
  /// The descriptor of an allocation for which it is offered: the table's, the same at each call unless the
  /// application closed it. invalid_argument: it is not offered.
  Result<int> descriptor(std::uint64_t allocation_id, ExternalType type);
  /// A new descriptor of an exported allocation. invalid_argument: it is not exported, or the application
  /// closed the descriptor.
  Result<UniqueFd> duplicate(std::uint64_t allocation_id) const;
  /// A handle made from a descriptor of any process's memory, to be put like others.
  IpcHandleBytes adopt(int fd, const SharedFileIdentity& file);
  /// Gives one handle back. The allocation stays exported, since an importer may share it. invalid_argument:
  /// none is out that has not been given back; a handle that was made from an offered descriptor may always
  /// be put.
  Status put(const IpcHandle& handle);
  /// Gives back one handle of a live allocation that is byte for byte as `get` gave it. False: there is no
  /// such handle out, and `put` says why.
  [[nodiscard]] bool put_as_given(const IpcHandleBytes& handle);
  /// The allocation was freed: its descriptor is closed unless a range holds it. Handles that are out may
  /// still be put.
  void remove(std::uint64_t allocation_id) noexcept;

  /// Part of a range that gets a handle: of an exported file, which the handle keeps.
  struct RangePart {
    std::shared_ptr<ExportedFile> file;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  /// The file of an exported allocation; null: it is not exported.
  [[nodiscard]] std::shared_ptr<ExportedFile> hold(std::uint64_t allocation_id) const;
  /// A handle of `size_bytes` of parts, which begin with byte `first_byte` of the first page. It opens, also
  /// when their allocations are gone, until it is put, or until remove_ranges(`owner`). out_of_host_memory.
  Result<IpcHandleBytes> add_range(const void* owner, std::uint64_t size_bytes, std::vector<RangePart> parts,
                                   std::uint64_t first_byte);
  void remove_ranges(const void* owner) noexcept;

  /// Tells this process from others in words that several may write: 20 bits, random, never 0.
  [[nodiscard]] std::uint32_t process_tag() const noexcept { return process_tag_; }

  /// Memory that other processes write words to that waits look at. While there is any, waits poll.
  void add_foreign_words() noexcept { foreign_words_.fetch_add(1, std::memory_order_relaxed); }

  void remove_foreign_words() noexcept { foreign_words_.fetch_sub(1, std::memory_order_relaxed); }

  [[nodiscard]] bool has_foreign_words() const noexcept {
    return foreign_words_.load(std::memory_order_relaxed) != 0;
  }

  /// Exported allocations and ranges, and handles that were not put nor ended with their allocation.
  struct Counts {
    std::size_t files = 0;
    std::uint64_t handles = 0;
  };

  [[nodiscard]] Counts counts() const;

 private:
  struct Entry {
    std::shared_ptr<ExportedFile> file;
    IpcHandleBytes handle{};
    std::uint64_t handles = 0;  ///< how many are out
  };

  struct Range {
    const void* owner = nullptr;
    std::unique_ptr<ExportedFile> list;
    std::vector<std::shared_ptr<ExportedFile>> parts;
    IpcHandleBytes handle{};
  };

  /// A file that ranges are made of, also after its allocation is gone.
  struct Held {
    ExportedFile* file = nullptr;
    std::uint64_t parts = 0;
  };

  using Ranges = std::unordered_map<IpcToken, Range, IpcTokenHash>;

  [[nodiscard]] Result<UniqueFd> find(const IpcToken& token) const;
  [[nodiscard]] bool is_offered_dma_buf(int fd) const;
  [[nodiscard]] BrokerAddress broker_address();
  void remember_freed(const IpcToken& token, std::uint64_t handles) noexcept DATUM_REQUIRES(mutex_);
  void let_go_of_parts(const Range& range) noexcept DATUM_REQUIRES(mutex_);

  std::uint32_t process_tag_ = 1;
  std::atomic<std::uint32_t> foreign_words_{0};
  mutable Mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> files_ DATUM_GUARDED_BY(mutex_);  ///< by id of the allocation
  std::unordered_map<IpcToken, Entry*, IpcTokenHash> by_token_ DATUM_GUARDED_BY(mutex_);  ///< of `files_`
  Ranges ranges_ DATUM_GUARDED_BY(mutex_);  ///< whose handles are out, by the token of their list
  std::unordered_map<IpcToken, Held, IpcTokenHash> held_ DATUM_GUARDED_BY(mutex_);  ///< parts of `ranges_`
  std::unordered_map<IpcToken, std::uint64_t, IpcTokenHash>
      handles_ DATUM_GUARDED_BY(mutex_);  ///< out, of all but `files_`
  std::unordered_map<IpcToken, std::uint64_t, IpcTokenHash>
      freed_handles_ DATUM_GUARDED_BY(mutex_);                 ///< of freed allocations
  std::deque<IpcToken> freed_order_ DATUM_GUARDED_BY(mutex_);  ///< oldest first: only so many are remembered
  Mutex broker_mutex_;                                         ///< before `mutex_`
  bool broker_tried_ DATUM_GUARDED_BY(broker_mutex_) = false;
  std::unique_ptr<IpcBroker> broker_ DATUM_GUARDED_BY(broker_mutex_);
};

/// Pages of a board that are shared through a descriptor. `function` outlives it.
class DeviceExport final : public PagesElsewhere {
 public:
  DeviceExport(board::PcieFunction& function, std::vector<PageRun> runs) noexcept;

  /// Shows the pages to another board of this process; where that board sees them. Once a board.
  Result<Iova> add_peer(DmaMap& dma, int file);
  void remove_peer(const DmaMap& dma) noexcept;
  [[nodiscard]] bool has_peer(const DmaMap& dma) const noexcept;

  bool end() noexcept override;

 private:
  board::PcieFunction& function_;
  std::vector<PageRun> runs_;
  std::uint64_t bytes_ = 0;
  std::vector<std::pair<DmaMap*, Iova>> peers_;
};

}  // namespace datum
