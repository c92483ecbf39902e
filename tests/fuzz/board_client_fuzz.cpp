// A server that answers anything to the driver's client. Whatever it answers, the client opens the board or
// refuses it in words, never waits for what does not come, and leaves nothing behind.
#include <array>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <datum/hw/registers.hpp>

#include "sim/server/socket_listener.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/protocol_input.hpp"
#include "tests/support/process_resources.hpp"
#include "vfio_backend/user/user_function.hpp"
#include "vfio_user/capabilities.hpp"

namespace datum::test {
namespace {

using namespace vfio_user;

constexpr std::uint64_t aperture_bytes = 64U << 10U;

/// Plays the server of one client: answers as a board's would, save where the input says otherwise. It never
/// just stays silent: what the client would wait for in vain it learns from the end of the connection.
class Server {
 public:
  Server(UniqueFd socket, Input& input)
      : socket_(std::move(socket)), input_(input), aperture_(make_file(aperture_bytes)) {}

  void serve() {
    bool going_on = true;
    while (going_on) {
      auto message = receive_message(socket_.get());
      if (!message.ok() || !message->has_value()) {
        break;
      }
      if (!(*message)->is_reply() && ((*message)->header.flags & flag_no_reply) == 0) {
        going_on = answer(**message);
      }
    }
  }

 private:
  /// False: the client may wait for something that will not come.
  bool answer(const Message& question) {
    std::uint64_t deviation = input_.below(16);
    if (deviation == 15) {
      ask(question.header.id);
      deviation = input_.below(15);
    }
    Header header = question.header;
    header.flags = type_reply;
    std::vector<std::byte> body = right_answer(question);
    bool understood = true;
    if (deviation == 1) {
      change_bytes(body, input_);
    } else if (deviation == 2) {
      header.flags |= flag_error;
      header.error = static_cast<std::uint32_t>(input_.below(140));
      body.clear();
    } else if (deviation == 3) {
      std::vector<std::byte> bytes = encode(header, body);
      change_bytes(bytes, input_);
      static_cast<void>(send_all(socket_.get(), bytes, {}));
      return false;
    } else if (deviation == 4) {
      const auto drawn = std::as_bytes(input_.bytes(input_.below(128)));
      body.assign(drawn.begin(), drawn.end());
    } else if (deviation == 5) {
      return input_.below(4) != 0 && send(header, body, 2 + input_.below(15));
    }
    const bool aperture = question.command() == Command::device_get_region_info;
    understood = send(header, body, aperture && deviation != 6 ? 1 : 0);
    return understood;
  }

  bool send(const Header& header, std::span<const std::byte> body, std::uint64_t count) {
    std::array<int, most_descriptors> descriptors{};
    descriptors.fill(aperture_.get());
    return send_all(socket_.get(), encode(header, body), {descriptors.data(), count}) == 0;
  }

  /// Asks for memory as a board would, or for anything.
  void ask(std::uint16_t id) {
    for (std::uint64_t count = 1 + input_.below(3); count != 0; --count) {
      const auto command = input_.below(8) == 0 ? static_cast<Command>(input_.below(16))
                                                : (input_.flip() ? Command::dma_read : Command::dma_write);
      std::vector<std::byte> body = draw_command_body(command, input_);
      change_bytes(body, input_);
      Header header;
      header.id = id;
      header.command = static_cast<std::uint16_t>(command);
      send(header, body, input_.below(16) == 0 ? 1 : 0);
    }
  }

  [[nodiscard]] std::vector<std::byte> right_answer(const Message& question) {
    switch (question.command()) {
    case Command::version: {
      Capabilities capabilities;
      capabilities.max_descriptors = most_descriptors;
      capabilities.board.emplace();
      capabilities.board->name = "fuzz";
      return encode_version(capabilities);
    }
    case Command::device_get_info:
      return as_message_body(
          DeviceInfo{sizeof(DeviceInfo), device_is_pci | device_can_reset, 9, pci_irq_count});
    case Command::device_get_region_info:
      return region_info(question);
    case Command::device_get_irq_info:
      return as_message_body(IrqInfo{sizeof(IrqInfo), irq_eventfd_flag, 0, 4});
    case Command::region_read:
      return region_data(question);
    default:
      return question.body;
    }
  }

  static std::vector<std::byte> region_info(const Message& question) {
    const auto asked =
        question.body.size() >= sizeof(RegionInfo) ? read_body<RegionInfo>(question.body) : RegionInfo{};
    RegionInfo info{64, region_read_flag | region_write_flag, asked.index, 0, 0x10000, 0};
    if (asked.index != 2) {
      return as_message_body(info);
    }
    info.flags |= region_mmap_flag | region_capabilities_flag;
    info.capability_offset = sizeof info;
    auto body = as_message_body(info);
    append(body, SparseCapability{sparse_capability, 1, 0, 1, 0});
    append(body, SparseArea{0, aperture_bytes / 2});
    return body;
  }

  [[nodiscard]] std::vector<std::byte> region_data(const Message& question) {
    const auto access = question.body.size() >= sizeof(RegionAccess) ? read_body<RegionAccess>(question.body)
                                                                     : RegionAccess{};
    auto body = as_message_body(access);
    const auto drawn = std::as_bytes(input_.bytes(std::min(access.count, 8U)));
    body.insert(body.end(), drawn.begin(), drawn.end());
    body.resize(sizeof access + std::min(access.count, most_data_bytes));
    return body;
  }

  UniqueFd socket_;
  Input& input_;
  UniqueFd aperture_;
};

/// What a driver does with a board.
void use(UserFunction& function, Input& input) {
  static std::vector<std::byte> memory(3 * 4096);
  const auto aligned = (reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) & ~std::uintptr_t{4095};
  const std::span<std::byte> page(reinterpret_cast<std::byte*>(aligned), 4096);
  std::array<std::byte, 64> block{};
  const UniqueFd file = make_file(4 * 4096);
  for (int step = 0; step < 24; ++step) {
    const std::uint64_t iova = 4096 * input.below(64);
    const auto access = static_cast<board::DmaAccess>(1 + input.below(3));
    const Result<board::Bar*> bar = function.bar(static_cast<unsigned>(input.below(6)));
    const std::uint64_t offset =
        bar.ok() ? input.below(std::max<std::uint64_t>((*bar)->size_bytes(), 128) - 64) & ~7ULL : 0;
    const bool inside = bar.ok() && (*bar)->size_bytes() >= 128;
    switch (input.below(10)) {
    case 0:
      static_cast<void>(function.dma_map(Iova{iova}, page, access));
      break;
    case 1:
      static_cast<void>(function.dma_map_fd(Iova{iova}, file.get(), 4096 * input.below(4), 4096, access));
      break;
    case 2:
      static_cast<void>(function.dma_unmap(Iova{iova}, 4096));
      break;
    case 3:
      static_cast<void>(function.reset(board::ResetKind::function));
      break;
    case 4:
      static_cast<void>(function.health());
      static_cast<void>(function.take_dma_faults());
      break;
    case 5:
      static_cast<void>(function.wait(board::any_vector, -1, function.clock().now_ns));
      break;
    case 6:
      if (inside) {
        (*bar)->read_block(offset, block);
      }
      break;
    case 7:
      if (inside) {
        (*bar)->write_block(offset, block);
      }
      break;
    case 8:
      if (inside) {
        static_cast<void>((*bar)->read32(offset));
      }
      break;
    default:
      if (inside) {
        (*bar)->write64(offset, iova);
      }
    }
  }
}

/// Where all servers of the process listen.
struct Place {
  Place() {
    require(::mkdtemp(folder.data()) != nullptr, "a folder for the socket");
    path = folder + "/board";
    listener.emplace(sim::SocketListener::open(path));
    require(listener->ok(), "a socket to listen at");
  }

  ~Place() {
    listener.reset();
    ::rmdir(folder.c_str());
  }

  std::string folder = "/tmp/datum-fuzz-XXXXXX";
  std::string path;
  std::optional<Result<sim::SocketListener>> listener;
};

void run(Input& server_input, Input& client_input) {
  static Place place;
  const sim::SocketListener& listener = **place.listener;
  std::thread server([&] {
    pollfd entry{listener.descriptor(), POLLIN, 0};
    if (::poll(&entry, 1, 10'000) > 0) {
      Server(listener.accept(), server_input).serve();
    }
  });
  {
    auto function = UserFunction::open("vfio-user:" + place.path);
    if (function.ok()) {
      use(**function, client_input);
    } else {
      require(!function.error().message.empty(), "each refusal has a sentence");
    }
  }
  server.join();
}

}  // namespace
}  // namespace datum::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum::test;
  static bool first = true;  // opens what stays open
  const std::size_t before = open_descriptors();
  // What the client does and what the server answers are drawn from two ends, since both run at once.
  const std::size_t of_client = std::min<std::size_t>(size / 4, 96);
  Input client(data, of_client);
  Input server(data + of_client, size - of_client);
  run(server, client);
  require(first || open_descriptors() == before, "a server leaves no descriptors behind");
  first = false;
  return 0;
}
