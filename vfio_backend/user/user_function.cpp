#include "vfio_backend/user/user_function.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/board/pci_domains.hpp>
#include <datum/hw/registers.hpp>

#include "vfio_backend/user/limits.hpp"
#include "vfio_backend/user/server_address.hpp"

namespace datum::vfio_user {

namespace {

constexpr std::uint32_t message_table_bar = 4;
constexpr unsigned default_iova_bits = 39;

/// Where PCs receive interrupt messages: no address of memory.
constexpr std::uint64_t message_window_first = 0xfee00000;
constexpr std::uint64_t message_window_last = 0xfeefffff;

/// Counts up with every board that is opened; only for telling them apart.
std::uint8_t next_device_number() {
  static std::atomic<unsigned> opened = 0;
  return static_cast<std::uint8_t>(opened.fetch_add(1) % 32);
}

vfio::SpaceLimits space_limits(unsigned iova_bits, std::uint64_t max_mappings) {
  const auto last = iova_bits >= 64 ? ~0ULL : (1ULL << iova_bits) - 1;
  vfio::SpaceLimits limits;
  limits.iova_ranges = {{Iova{0}, Iova{message_window_first - 1}},
                        {Iova{message_window_last + 1}, Iova{last}}};
  limits.max_mappings = max_mappings;
  return limits;
}

}  // namespace

Result<std::unique_ptr<UserFunction>> UserFunction::open(std::string_view address) {
  Result<std::string> path = parse_server_address(address);
  if (!path) {
    return std::move(path).error();
  }
  std::unique_ptr<UserFunction> function(new UserFunction(std::string(address), std::move(path).value()));
  for (const auto step : {&UserFunction::connect, &UserFunction::negotiate, &UserFunction::look_at_device,
                          &UserFunction::look_at_regions, &UserFunction::describe}) {
    if (Status status = (function.get()->*step)(); !status) {
      return std::move(status).error();
    }
  }
  if (Status status = function->set_bus_master(true); !status) {
    return std::move(status).error();
  }
  return function;
}

UserFunction::~UserFunction() {
  if (channel_ != nullptr && !channel_->is_owner()) {
    static_cast<void>(channel_.release());  // a forked child: thread and waiters are the parent's
    static_cast<void>(memory_.release());
  } else if (memory_ != nullptr) {
    // The board must not write to memory that is about to go. A server that is gone cannot be told.
    try {
      static_cast<void>(set_bus_master(false));
    } catch (const std::exception&) {
      // No memory for the message: the server stops the board when the connection ends, which is next.
    }
  }
}

Status UserFunction::connect() {
  Result<UniqueFd> socket = connect_to_server(path_);
  if (!socket) {
    return std::move(socket).error();
  }
  const auto answer = [this](const Message& message) {
    ServedMemory* const memory = answering_.load(std::memory_order_acquire);
    return memory == nullptr ? Channel::DmaAnswer{EFAULT, {}} : memory->answer(message);
  };
  try {
    channel_ = std::make_unique<Channel>(std::move(socket).value(), path_, answer);
  } catch (const std::system_error& error) {
    return make_error(
        ErrorCode::out_of_host_memory,
        fmt::format("no thread to be had for the board at {}: {}", path_, error.code().message()),
        "raise the limit of processes and threads (ulimit -u)");
  }
  return {};
}

Status UserFunction::negotiate() {
  Capabilities ours;
  ours.max_descriptors = most_descriptors;
  ours.max_data_bytes = most_data_bytes;
  ours.board.emplace();
  const auto reply = channel_->ask(Command::version, encode_version(ours), {}, limits::first_answer);
  if (!reply) {
    return reply.error();
  }
  Result<Capabilities> server = decode_version(reply->body);
  if (!server) {
    return std::move(server).error();
  }
  server_ = std::move(server).value();
  return {};
}

Status UserFunction::look_at_device() {
  const auto reply = channel_->ask(
      Command::device_get_info, as_message_body(DeviceInfo{sizeof(DeviceInfo), 0, 0, 0}), {}, limits::answer);
  if (!reply) {
    return reply.error();
  }
  const auto info =
      reply->body.size() < sizeof(DeviceInfo) ? DeviceInfo{} : read_body<DeviceInfo>(reply->body);
  if ((info.flags & device_is_pci) == 0 || info.region_count <= config_region || info.irq_count <= msix_irq) {
    return make_error(ErrorCode::unsupported_feature,
                      fmt::format("what is served at {} is no PCI device", path_));
  }
  return {};
}

Status UserFunction::look_at_regions() {
  for (std::uint32_t index = 0; index < bar_count; ++index) {
    Result<RegionLayout> layout = query_region(*channel_, index);
    if (!layout) {
      return std::move(layout).error();
    }
    if (layout->size_bytes != 0) {
      bars_[index] = make_bar(*channel_, index, std::move(layout).value());
    }
  }
  if (bars_[0] == nullptr || bars_[2] == nullptr) {
    return make_error(ErrorCode::unsupported_feature,
                      fmt::format("what is served at {} is no board: it has no BAR0 or no BAR2", path_));
  }
  return {};
}

Result<std::uint32_t> UserFunction::read_config32(std::uint32_t offset) {
  std::uint32_t word = 0;
  if (!read_region(*channel_, config_region, offset, std::as_writable_bytes(std::span{&word, 1}))) {
    return channel_->lost() ? channel_->lost_error() : lost("its configuration space cannot be read");
  }
  return word;
}

Status UserFunction::describe() {
  Result<SocketInterrupts> interrupts = SocketInterrupts::set_up(*channel_, server_.max_descriptors);
  if (!interrupts) {
    return std::move(interrupts).error();
  }
  interrupts_ = std::make_unique<SocketInterrupts>(std::move(interrupts).value());
  const Result<std::uint32_t> ids = read_config32(PCI_VENDOR_ID);
  if (!ids) {
    return ids.error();
  }
  info_.address = address_;
  info_.name = fmt::format("{} served at {}", server_.board ? server_.board->name : "board", path_);
  info_.pci = {board::served_domain, 0, next_device_number(), 0};
  info_.vendor_id = static_cast<std::uint16_t>(*ids);
  info_.device_id = static_cast<std::uint16_t>(*ids >> 16U);
  info_.vectors = interrupts_->vectors();
  for (std::uint32_t index = 0; index < bar_count; ++index) {
    info_.bars[index].size_bytes = bars_[index] == nullptr ? 0 : bars_[index]->size_bytes();
  }
  const auto iova_bits = server_.board ? server_.board->iova_bits : default_iova_bits;
  limits_.max_locked_bytes = server_.board ? server_.board->max_locked_bytes : 0;
  memory_ =
      std::make_unique<ServedMemory>(space_limits(iova_bits, server_.max_mappings), limits_.max_locked_bytes);
  answering_.store(memory_.get(), std::memory_order_release);
  limits_.iova_ranges = memory_->limits().iova_ranges;
  limits_.granule_bytes = memory_->limits().granule_bytes;
  limits_.max_mappings = memory_->limits().max_mappings;
  limits_.can_import.memfd = true;
  return {};
}

Status UserFunction::set_bus_master(bool on) {
  const Result<std::uint32_t> word = read_config32(PCI_COMMAND);
  if (!word) {
    return word.error();
  }
  constexpr auto wanted = static_cast<std::uint16_t>(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
  const auto command = static_cast<std::uint16_t>(on ? *word | wanted : *word & ~std::uint32_t{wanted});
  auto body = as_message_body(RegionAccess{PCI_COMMAND, config_region, sizeof command});
  append(body, command);
  const auto reply = channel_->ask(Command::region_write, body, {}, limits::answer);
  return reply ? Status{} : Status(reply.error());
}

Error UserFunction::lost(std::string_view reason) const {
  return make_error(ErrorCode::device_lost, fmt::format("the board at {} is lost: {}", path_, reason));
}

Result<board::Bar*> UserFunction::bar(unsigned index) {
  if (index >= bar_count || bars_[index] == nullptr) {
    return make_error(ErrorCode::not_available, fmt::format("the board at {} has no BAR{}", path_, index));
  }
  if (index == message_table_bar) {
    return make_error(ErrorCode::not_available,
                      "BAR4 holds the interrupt table, which belongs to the server's host");
  }
  return bars_[index].get();
}

Status UserFunction::tell_mapping(Iova iova, std::uint64_t bytes, board::DmaAccess access, int fd,
                                  std::uint64_t offset) {
  const DmaMap map{sizeof(DmaMap), static_cast<std::uint32_t>(access), offset, raw(iova), bytes};
  const auto reply = channel_->ask(Command::dma_map, as_message_body(map), {&fd, fd >= 0 ? 1U : 0U},
                                   vfio_user::limits::answer);
  if (!reply) {
    memory_->remove(iova);
    return reply.error();
  }
  return {};
}

Status UserFunction::dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(host.data()), limits_.granule_bytes)) {
    return make_error(ErrorCode::invalid_argument, fmt::format("host memory at {} is not aligned to {} bytes",
                                                               fmt::ptr(host.data()), limits_.granule_bytes));
  }
  const ScopedLock lock(mapping_mutex_);
  if (Status status = memory_->add(iova, host, access, {}); !status) {
    return status;
  }
  if (Status status = populate(host, access); !status) {
    memory_->remove(iova);
    return status;
  }
  return tell_mapping(iova, host.size(), access, -1, 0);
}

Status UserFunction::dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                                board::DmaAccess access) {
  struct stat status {};

  if (::fstat(fd, &status) != 0 || ::fcntl(fd, F_GET_SEALS) < 0) {
    return Error{ErrorCode::invalid_argument,
                 errno,
                 "the descriptor is not a memfd, the only kind that a served board maps",
                 {}};
  }
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (!is_aligned(offset, limits_.granule_bytes) || offset > file_bytes || bytes > file_bytes - offset ||
      bytes == 0) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("[{:#x}, +{:#x}) is no range of whole pages in a descriptor of {} bytes",
                                  offset, bytes, file_bytes));
  }
  // Mapped here as well: a server is free to ask for each access all the same.
  const bool write = access != board::DmaAccess::read;
  void* const base = ::mmap(nullptr, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
                            static_cast<off_t>(offset));
  if (base == MAP_FAILED) {
    const int number = errno;
    return Error{number == ENOMEM ? ErrorCode::out_of_host_memory : ErrorCode::insufficient_permissions,
                 number,
                 fmt::format("the descriptor cannot be mapped: {}", std::strerror(number)),
                 {}};
  }
  Mapping own(base, bytes);
  const auto memory = own.span();
  const ScopedLock lock(mapping_mutex_);
  if (Status added = memory_->add(iova, memory, access, std::move(own)); !added) {
    return added;
  }
  return tell_mapping(iova, bytes, access, fd, offset);
}

Status UserFunction::dma_unmap(Iova iova, std::uint64_t bytes) {
  const ScopedLock lock(mapping_mutex_);
  if (!memory_->has(iova, bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("there is no mapping of exactly {} bytes at IOVA {:#x}", bytes, raw(iova)));
  }
  const DmaUnmap unmap{sizeof(DmaUnmap), 0, raw(iova), bytes};
  const auto reply = channel_->ask(Command::dma_unmap, as_message_body(unmap), {}, vfio_user::limits::answer);
  if (!reply && !channel_->server_is_gone()) {
    return reply.error();  // a server that is only silent may still reach memory that it was handed
  }
  memory_->remove(iova);
  return {};
}

Result<int> UserFunction::interrupt_fd(unsigned vector) {
  if (vector >= info_.vectors) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("vector {} of a board with {}", vector, info_.vectors));
  }
  return interrupts_->descriptor(vector);
}

Result<board::WaitOutcome> UserFunction::wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
  return vfio::wait_for_interrupt(*this, vector, deadline_ns, [&](std::uint64_t most_ns) {
    return interrupts_->wait(vector, wake_fd, most_ns);
  });
}

board::Clock UserFunction::clock() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return {static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(now.tv_nsec),
          server_.board ? server_.board->wait_scale : vfio_user::limits::unknown_wait_scale};
}

Status UserFunction::reset(board::ResetKind) {
  if (const auto reply = channel_->ask(Command::device_reset, {}, {}, vfio_user::limits::answer); !reply) {
    return reply.error();
  }
  interrupts_->clear();
  if (Status status = set_bus_master(true); !status) {
    return status;
  }
  return health();
}

Status UserFunction::health() {
  if (channel_->lost()) {
    return channel_->lost_error();
  }
  if (interrupts_->board_lost()) {
    return lost("its server says so, and why on its standard error");
  }
  if (bars_[0]->read32(hw::magic) == ~0U) {
    return channel_->lost() ? channel_->lost_error() : lost("its registers read all ones");
  }
  return {};
}

std::vector<board::DmaFault> UserFunction::take_dma_faults() { return memory_->take_faults(); }

Result<UniqueFd> UserFunction::export_memory(std::span<const board::DeviceRange>, std::string_view) {
  return make_error(ErrorCode::unsupported_feature,
                    fmt::format("the memory of the board at {} cannot be exported: the vfio-user protocol "
                                "has no message for it",
                                path_),
                    "use a board that is simulated in this process: rtl: or model:");
}

Status UserFunction::end_export(std::span<const board::DeviceRange>) {
  return make_error(ErrorCode::unsupported_feature,
                    fmt::format("the memory of the board at {} is never exported", path_));
}

void UserFunction::relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace datum::vfio_user
