#include "sim/server/served_board.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "sim/board/options.hpp"

namespace datum::sim {

namespace {

constexpr std::uint32_t register_bar = 0;
constexpr std::uint32_t aperture_bar = 2;
constexpr std::uint32_t message_bar = 4;
constexpr std::uint64_t message_entry_bytes = 16;
/// The client's IOMMU is the one that counts; here is only what keeps a mad client from eating all memory.
constexpr std::uint64_t most_mappings = 4ULL << 20U;
constexpr unsigned whole_address_bits = 64;

int errno_of(const Error& error) {
  switch (error.code) {
  case ErrorCode::out_of_host_memory:
    return ENOMEM;
  case ErrorCode::insufficient_permissions:
    return EACCES;
  default:
    return EINVAL;
  }
}

void add_suffix(std::string& file, unsigned client_number) {
  if (!file.empty() && client_number != 0) {
    file += fmt::format(".client{}", client_number);
  }
}

/// A word where it is one, as the board's registers tell sizes apart.
void read_bar(board::Bar& bar, std::uint64_t offset, std::span<std::byte> to) {
  if (to.size() == sizeof(std::uint32_t) && offset % to.size() == 0) {
    const auto word = bar.read32(offset);
    std::memcpy(to.data(), &word, sizeof word);
  } else if (to.size() == sizeof(std::uint64_t) && offset % to.size() == 0) {
    const auto word = bar.read64(offset);
    std::memcpy(to.data(), &word, sizeof word);
  } else {
    bar.read_block(offset, to);
  }
}

void write_bar(board::Bar& bar, std::uint64_t offset, std::span<const std::byte> from) {
  if (from.size() == sizeof(std::uint32_t) && offset % from.size() == 0) {
    std::uint32_t word = 0;
    std::memcpy(&word, from.data(), sizeof word);
    bar.write32(offset, word);
  } else if (from.size() == sizeof(std::uint64_t) && offset % from.size() == 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data(), sizeof word);
    bar.write64(offset, word);
  } else {
    bar.write_block(offset, from);
  }
}

}  // namespace

ServedBoard::ServedBoard(std::unique_ptr<SimFunction> function, vfio_user::BoardCapabilities capabilities)
    : function_(std::move(function)),
      capabilities_(std::move(capabilities)),
      config_(function_->info()),
      message_table_(function_->info().bars[message_bar].size_bytes) {
  auto& board = function_->board();
  mappable_bytes_ = board.options.aperture_bytes;
  const Turn::Scope turn(board.turn);
  board.host.set_bus_master(false);
}

Result<std::unique_ptr<ServedBoard>> ServedBoard::create(std::string_view address, unsigned client_number) {
  auto options = options_of_address(address);
  if (!options) {
    return std::move(options).error();
  }
  if (options->step_locked) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' cannot be served: the time of a step-locked board passes inside "
                                  "calls of the driver, and a served one has none",
                                  address),
                      "leave the option 'step' out");
  }
  vfio_user::BoardCapabilities capabilities;
  capabilities.iova_bits = options->iommu_bits;
  capabilities.max_locked_bytes = options->max_locked_bytes;
  options->iommu_bits = whole_address_bits;
  options->max_mappings = most_mappings;
  options->max_locked_bytes = 0;
  add_suffix(options->waveform.file, client_number);
  add_suffix(options->coverage_file, client_number);
  auto function = SimFunction::create(std::string(address), *options);
  if (!function) {
    return std::move(function).error();
  }
  capabilities.name = (*function)->info().name;
  capabilities.wait_scale = (*function)->clock().wait_scale;
  return std::unique_ptr<ServedBoard>(new ServedBoard(std::move(function).value(), std::move(capabilities)));
}

ServedBoard::~ServedBoard() = default;

void ServedBoard::reach_rest_through(RemoteMemory* remote) {
  auto& board = function_->board();
  const Turn::Scope turn(board.turn);
  board.host.reach_rest_through(remote);
}

int ServedBoard::map(const vfio_user::DmaMap& request, int descriptor) {
  const auto access = request.flags & (vfio_user::dma_map_read | vfio_user::dma_map_write);
  if (request.argsz != sizeof request || access == 0 || access != request.flags ||
      !is_aligned(request.offset, small_page_bytes)) {
    return EINVAL;
  }
  const auto rights = static_cast<board::DmaAccess>(access);
  auto& board = function_->board();
  const auto check = [&] { return board.iommu.check(Iova{request.iova}, request.bytes); };
  {
    const Turn::Scope turn(board.turn);
    if (const auto status = check(); !status) {
      return errno_of(status.error());
    }
  }
  // Only this thread maps, so what was checked still holds after the file was brought in.
  auto range = descriptor < 0 ? Result<HostRange>(HostRange::of_elsewhere(request.bytes))
                              : files_.range(descriptor, request.offset, request.bytes, rights);
  if (!range) {
    return errno_of(range.error());
  }
  const Turn::Scope turn(board.turn);
  board.iommu.map(Iova{request.iova}, std::move(range).value(), rights);
  return 0;
}

int ServedBoard::unmap(const vfio_user::DmaUnmap& request) {
  auto& board = function_->board();
  // Every access is looked up when it is made, by who has the turn: once we have had it, none is under way.
  const Turn::Scope turn(board.turn);
  if (request.argsz != sizeof request) {
    return EINVAL;
  }
  if (request.flags == vfio_user::dma_unmap_all && request.iova == 0 && request.bytes == 0) {
    return board.iommu.unmap_inside(0, ~0ULL) ? 0 : EINVAL;
  }
  const auto last = request.iova + (request.bytes - 1);  // a range may end where addresses end
  if (request.flags != 0 || request.bytes == 0 || last < request.iova ||
      !is_aligned(request.iova | request.bytes, small_page_bytes)) {
    return EINVAL;
  }
  return board.iommu.unmap_inside(request.iova, last) ? 0 : EINVAL;
}

std::uint64_t ServedBoard::region_bytes(std::uint32_t index) const noexcept {
  if (index < vfio_user::bar_count) {
    return function_->info().bars[index].size_bytes;
  }
  return index == vfio_user::config_region ? ConfigSpace::size_bytes : 0;
}

int ServedBoard::aperture_descriptor() const noexcept { return function_->board().dram.descriptor(); }

void ServedBoard::read_message_table(std::uint64_t offset, std::span<std::byte> to) {
  const ScopedLock lock(client_state_);
  const auto pending_first = message_table_.size() / 2;
  for (std::size_t index = 0; index < to.size(); ++index) {
    const auto at = offset + index;
    to[index] = message_table_[at];
    if (at < pending_first) {
      continue;
    }
    unsigned bits = 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
      const auto vector = static_cast<unsigned>((at - pending_first) * 8 + bit);
      bits |= function_->board().interrupts.is_pending(vector) ? 1U << bit : 0U;
    }
    to[index] = static_cast<std::byte>(bits);
  }
}

void ServedBoard::read_region(const vfio_user::RegionAccess& access, std::span<std::byte> to) {
  switch (access.region) {
  case register_bar:
  case aperture_bar:
    read_bar(**function_->bar(access.region), access.offset, to);
    break;
  case message_bar:
    read_message_table(access.offset, to);
    break;
  default: {
    const ScopedLock lock(client_state_);
    config_.read(static_cast<std::uint32_t>(access.offset), to);
  }
  }
}

void ServedBoard::write_region(const vfio_user::RegionAccess& access, std::span<const std::byte> from) {
  switch (access.region) {
  case register_bar:
  case aperture_bar:
    write_bar(**function_->bar(access.region), access.offset, from);
    break;
  case message_bar: {
    const ScopedLock lock(client_state_);
    const auto table_end = irq_count(vfio_user::msix_irq) * message_entry_bytes;
    for (std::size_t index = 0; index < from.size() && access.offset + index < table_end; ++index) {
      message_table_[access.offset + index] = from[index];
    }
    break;
  }
  default: {
    UniqueLock lock(client_state_);
    const ConfigSpace::Effect effect = config_.write(static_cast<std::uint32_t>(access.offset), from);
    const bool bus_master = config_.bus_master();
    lock.unlock();
    after_config_write(effect, bus_master);
  }
  }
}

void ServedBoard::after_config_write(const ConfigSpace::Effect& effect, bool bus_master) {
  if (effect.function_reset) {
    static_cast<void>(reset());
  } else if (effect.bus_master_changed) {
    auto& board = function_->board();
    const Turn::Scope turn(board.turn);
    board.host.set_bus_master(bus_master);
  }
}

std::uint32_t ServedBoard::irq_count(std::uint32_t index) const noexcept {
  switch (index) {
  case vfio_user::msix_irq:
    return function_->info().vectors;
  case vfio_user::error_irq:
  case vfio_user::request_irq:
    return 1;
  default:
    return 0;  // the board has no INTx and no MSI
  }
}

void ServedBoard::connect(std::uint32_t index, std::uint32_t start, std::vector<UniqueFd> descriptors) {
  for (auto& descriptor : descriptors) {
    if (index == vfio_user::msix_irq) {
      function_->board().interrupts.connect(start++, std::move(descriptor));
    } else {
      notices_[index - vfio_user::error_irq] = std::move(descriptor);
    }
  }
}

void ServedBoard::trigger(std::uint32_t index, std::uint32_t vector) {
  if (index == vfio_user::msix_irq) {
    function_->board().interrupts.raise(vector);
  } else if (const auto& notice = notices_[index - vfio_user::error_irq]; notice.valid()) {
    signal_foreign(notice.get());
  }
}

int ServedBoard::reset() {
  auto& board = function_->board();
  {
    const ScopedLock lock(client_state_);
    config_.reset();
    std::ranges::fill(message_table_, std::byte{0});
  }
  {
    const Turn::Scope turn(board.turn);
    board.host.set_bus_master(false);
  }
  return function_->reset(board::ResetKind::function) ? 0 : EIO;
}

std::string ServedBoard::report_loss() {
  auto& board = function_->board();
  std::string reason;
  {
    const Turn::Scope turn(board.turn);
    reason = board.lost();
  }
  if (!reason.empty()) {
    trigger(vfio_user::error_irq, 0);
  }
  return reason;
}

std::size_t ServedBoard::mappings() const {
  auto& board = function_->board();
  const Turn::Scope turn(board.turn);
  return board.iommu.mappings();
}

}  // namespace datum::sim
