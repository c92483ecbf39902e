// The one seam: a PCIe function. Everything that differs between a card and a simulated board is behind this
// interface, and nothing above it may ask which one it talks to, save for printing its name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum::board {

/// What the board may do with mapped host memory.
enum class DmaAccess : std::uint8_t { read = 1, write = 2, read_write = 3 };

enum class ResetKind : std::uint8_t { function, hot };

struct BarInfo {
  std::uint64_t size_bytes = 0;   ///< 0: the function has no such BAR
  std::uint64_t bus_address = 0;  ///< 0: not known on this side
};

/// How fast a PCIe link is: generation (1 for 2.5 GT/s) and lanes; 0: not known on this side.
struct PciLink {
  unsigned generation = 0;
  unsigned lanes = 0;

  friend constexpr bool operator==(const PciLink&, const PciLink&) = default;
};

/// Both ends inclusive.
struct IovaRange {
  Iova first{};
  Iova last{};
};

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;
};

/// Who the function is. Constant for its life.
struct FunctionInfo {
  std::string address;  ///< as it was opened: "vfio:0000:03:00.0", "rtl:seed=7", "model:"
  std::string name;     ///< for people: "Datum RTL board (Verilator)"
  PciAddress pci;       ///< boards simulated in this process have domain 0xda70, served ones
                        ///< 0xda71, and count up the device number
  std::uint16_t vendor_id = 0;
  std::uint16_t device_id = 0;
  std::array<BarInfo, 6> bars{};
  PciLink link;          ///< as it ran when the function was opened
  PciLink fastest_link;  ///< that the function is capable of
  unsigned vectors = 0;  ///< interrupt vectors: 0 .. vectors-1
  int numa_node = -1;
};

/// Kinds of file descriptor that a function can make of its memory, or map.
struct DescriptorKinds {
  bool memfd = false;
  bool dma_buf = false;
};

/// A run of bytes of the board's own memory.
struct DeviceRange {
  DeviceAddress first{};
  std::uint64_t bytes = 0;

  friend constexpr bool operator==(const DeviceRange&, const DeviceRange&) = default;
};

/// What the driver has to keep to. Constant for the life of the function.
struct FunctionLimits {
  std::vector<IovaRange> iova_ranges;     ///< sorted, disjoint; dma_map refuses what is outside
  std::uint64_t granule_bytes = 4096;     ///< of dma_map: IOVA, address and length are multiples of it
  std::uint64_t max_mappings = 0;         ///< dma_map calls that may be live at once; 0: no known limit
  std::uint64_t max_locked_bytes = 0;     ///< memory that may be mapped at once; 0: no known limit
  DescriptorKinds can_export;             ///< export_memory
  std::uint32_t exportable_memories = 0;  ///< of export_memory: bit n stands for ordinal n
  bool exports_end = false;               ///< end_export takes pages back from whoever holds the descriptor
  DescriptorKinds can_import;             ///< dma_map of a descriptor
  bool shareable_between_processes = false;  ///< a second process may open a board of its own and import
};

/// A DMA access that the IOMMU refused.
struct DmaFault {
  Iova iova{};
  std::uint64_t bytes = 0;
  DmaAccess tried = DmaAccess::read;
  std::uint64_t cycle = 0;  ///< of the board's clock; 0 where it is not known
};

/// One BAR. Reads of a function that is gone give all ones, as PCIe does; `health` tells the two apart.
/// Every access is a single transaction of its size; offsets are naturally aligned (blocks: any) and lie
/// inside the BAR (the caller's duty; outside, reads give all ones and writes are dropped). Safe from any
/// thread.
class Bar {
 public:
  Bar() = default;
  virtual ~Bar() = default;
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t read32(std::uint64_t offset) noexcept = 0;
  [[nodiscard]] virtual std::uint64_t read64(std::uint64_t offset) noexcept = 0;
  virtual void write32(std::uint64_t offset, std::uint32_t value) noexcept = 0;
  virtual void write64(std::uint64_t offset, std::uint64_t value) noexcept = 0;
  virtual void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept = 0;
  virtual void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept = 0;
};

/// The clock by which waits are bounded.
struct Clock {
  std::uint64_t now_ns = 0;  ///< monotonic: host time, or board time of a step-locked simulation
  unsigned wait_scale =
      1;  ///< the driver multiplies its own bounds by this; above 1 where the board runs slower than a card
};

enum class WaitOutcome : std::uint8_t {
  interrupt,  ///< the vector was raised since the last wait on it
  woken,      ///< `wake_fd` became readable
  deadline,   ///< board clock reached the deadline
  quiescent,  ///< step-locked only: nothing in flight, so the board will never raise it without a further
              ///< call
};

inline constexpr unsigned any_vector = ~0U;
inline constexpr std::uint64_t no_deadline = ~0ULL;

/// A PCIe function that was opened. Destroying it stops its DMA, then frees vectors, mappings and windows.
/// Every method is safe from any thread; none waits without a bound; every failure is a typed error.
class PcieFunction {
 public:
  PcieFunction() = default;
  virtual ~PcieFunction() = default;
  PcieFunction(const PcieFunction&) = delete;
  PcieFunction& operator=(const PcieFunction&) = delete;

  [[nodiscard]] virtual const FunctionInfo& info() const noexcept = 0;
  [[nodiscard]] virtual const FunctionLimits& limits() const noexcept = 0;

  /// The window of BAR `index`; the same object at each call, alive as long as the function. not_available:
  /// no such BAR.
  virtual Result<Bar*> bar(unsigned index) = 0;

  /// Makes `host` visible to the board at `iova`. The caller chose the IOVA, keeps the memory mapped until
  /// dma_unmap and owns it. invalid_argument: misaligned, empty, outside iova_ranges or overlapping a live
  /// mapping; out_of_host_memory: locked-memory or mapping limit; insufficient_permissions: the host range
  /// cannot be accessed that way.
  virtual Status dma_map(Iova iova, std::span<std::byte> host, DmaAccess access) = 0;

  /// The same for [`offset`, `offset` + `bytes`) of a file descriptor of a kind in `limits().can_import`; the
  /// descriptor may be closed afterwards.
  virtual Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                            DmaAccess access) = 0;

  /// Undoes exactly one dma_map. When it returns the board can no longer reach the memory. invalid_argument:
  /// no such mapping.
  virtual Status dma_unmap(Iova iova, std::uint64_t bytes) = 0;

  /// An eventfd that becomes readable when the board raises `vector`; owned by the function. `wait` consumes
  /// its counter.
  virtual Result<int> interrupt_fd(unsigned vector) = 0;

  /// Waits until `vector` (or any_vector) is raised, `wake_fd` (an eventfd of the caller, -1: none; not
  /// consumed) is readable, or `clock().now_ns` reaches `deadline_ns` (no_deadline: never). A vector raised
  /// before the call and not yet consumed returns at once. Waiting costs no processor time. device_lost when
  /// the board is gone.
  virtual Result<WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) = 0;

  [[nodiscard]] virtual Clock clock() noexcept = 0;

  /// Puts the function into its power-on state; DMA mappings survive. Lifts a loss if the board answers
  /// again.
  virtual Status reset(ResetKind kind) = 0;

  /// Success, or device_lost with the reason in words.
  virtual Status health() = 0;

  /// IOMMU faults since the last call, oldest first (the oldest 256 are kept).
  virtual std::vector<DmaFault> take_dma_faults() = 0;

  /// A descriptor whose offset 0 is the first byte of the first of `ranges`, which follow one another in it
  /// and together are its length. From now until end_export board and holders of the descriptor share the
  /// bytes; the caller owns the descriptor and may close it. A memfd cannot be resized by anybody and carries
  /// `label` (up to 64 letters, digits, ':' and '-') as its name. invalid_argument: no range, not whole pages
  /// of 4 KiB inside the memory, or overlapping one another or a live export; unsupported_feature: not of
  /// limits().exportable_memories, or not in one descriptor; out_of_host_memory.
  virtual Result<UniqueFd> export_memory(std::span<const DeviceRange> ranges, std::string_view label) = 0;

  /// Ends an export of exactly `ranges`. Afterwards the board alone uses the pages, which hold zeroes, and
  /// who still has the descriptor keeps the bytes as they were. invalid_argument: no such export;
  /// unsupported_feature: not limits().exports_end, and the pages may be used by holders of the descriptor as
  /// long as the function is open.
  virtual Status end_export(std::span<const DeviceRange> ranges) = 0;

  /// Called once in every turn of a polling loop. A card pauses the core, a step-locked simulation runs the
  /// board for a while.
  virtual void relax() noexcept = 0;
};

}  // namespace datum::board
