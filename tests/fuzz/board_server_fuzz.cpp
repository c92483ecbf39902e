// A client that sends anything to the server of a board. Whatever it sends, each of its commands has at most
// one well-formed answer, and the next client finds a board that works.
#include <array>
#include <memory>
#include <optional>
#include <sys/socket.h>
#include <vector>

#include <datum/hw/registers.hpp>

#include "sim/server/session.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/protocol_input.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

using namespace vfio_user;

/// What goes through a socket without anybody reading at the other end.
constexpr std::size_t most_bytes = 32U << 10U;

class Client {
 public:
  explicit Client(int socket) : socket_(socket), file_(make_file(4 * 4096)) {}

  void send(Command command, std::uint32_t flags, std::span<const std::byte> body,
            std::span<const int> descriptors = {}) {
    Header header;
    header.id = next_id_++;
    header.command = static_cast<std::uint16_t>(command);
    header.flags = flags;
    put(encode(header, body), descriptors);
  }

  /// One message, most of them of a kind that there is.
  void send_drawn(Input& input) {
    const auto command =
        static_cast<Command>(input.below(32) == 0 ? input.number<std::uint16_t>() : 1 + input.below(13));
    const std::uint64_t shape = input.below(64);
    std::vector<std::byte> body = draw_command_body(command, input);
    change_bytes(body, input);
    std::array<int, 3> descriptors{};
    descriptors.fill(file_.get());
    const bool mapping = command == Command::dma_map || command == Command::device_set_irqs;
    const std::size_t count = mapping && input.flip() ? 1 : input.below(32) == 0 ? input.below(4) : 0;
    const std::uint32_t flags = shape == 0   ? input.number<std::uint32_t>()
                                : shape < 4  ? static_cast<std::uint32_t>(type_reply)
                                : shape < 12 ? static_cast<std::uint32_t>(flag_no_reply)
                                             : 0;
    if (shape == 63) {
      Header header;
      header.size_bytes = input.number<std::uint32_t>();
      put(as_message_body(header), {});
      return;
    }
    send(command, flags, body, {descriptors.data(), count});
  }

  [[nodiscard]] unsigned sent() const noexcept { return next_id_; }

  [[nodiscard]] bool has_room() const noexcept { return bytes_ < most_bytes; }

 private:
  void put(std::span<const std::byte> bytes, std::span<const int> descriptors) {
    bytes_ += bytes.size();
    require(send_all(socket_, bytes, descriptors) == 0, "the client's end of the connection works");
  }

  int socket_;
  UniqueFd file_;
  std::uint16_t next_id_ = 0;
  std::size_t bytes_ = 0;
};

/// Answers of a session that has ended, up to the end of the stream.
void check_answers(int socket, unsigned commands) {
  unsigned answers = 0;
  for (;;) {
    const auto message = receive_message(socket);
    require(message.ok() || message.error().code == ErrorCode::device_lost,
            "the server sends messages that are well formed");
    if (!message.ok() || !message->has_value()) {
      break;
    }
    const Header& header = (*message)->header;
    require((*message)->is_reply() || (*message)->command() == Command::dma_read ||
                (*message)->command() == Command::dma_write,
            "the server asks for memory and for nothing else");
    require(((header.flags & flag_error) != 0) == (header.error != 0), "an error has a number");
    answers += (*message)->is_reply() ? 1 : 0;
  }
  require(answers <= commands, "a command has one answer");
}

class Server {
 public:
  explicit Server(sim::ActivityLog& log) : log_(log) {
    auto board = sim::ServedBoard::create("model:memory=16M", 0);
    require(board.ok(), "a board for the fuzzer");
    board_ = std::move(*board);
  }

  void serve(Input& input) {
    Connection connection = make_connection();
    Client client(connection.first.get());
    if (input.below(16) != 0) {
      Capabilities capabilities;
      capabilities.max_descriptors = most_descriptors;
      client.send(Command::version, 0, encode_version(capabilities));
    }
    while (!input.empty() && client.has_room()) {
      client.send_drawn(input);
    }
    run(std::move(connection.second), connection.first.get());
    check_answers(connection.first.get(), client.sent());
  }

  /// What the next client finds.
  void check_alive() {
    Connection connection = make_connection();
    Client client(connection.first.get());
    client.send(Command::version, 0, encode_version({}));
    client.send(Command::device_reset, 0, {});
    client.send(Command::region_read, 0, as_message_body(RegionAccess{hw::magic, 0, 4}));
    run(std::move(connection.second), connection.first.get());
    for (int answers = 0;;) {
      const auto message = receive_message(connection.first.get());
      require(message.ok() && message->has_value(), "the next client is answered");
      if ((*message)->is_reply() && ++answers == 3) {
        require((*message)->header.error == 0 && (*message)->body.size() == sizeof(RegionAccess) + 4 &&
                    read_body<std::uint32_t>(std::span((*message)->body).subspan(sizeof(RegionAccess))) ==
                        hw::magic_value,
                "the next client finds a board that works");
        return;
      }
    }
  }

 private:
  /// Everything was sent: the session ends when it has read that.
  void run(UniqueFd socket, int client) {
    ::shutdown(client, SHUT_WR);
    sim::Session session(std::move(socket), *board_, log_, "fuzz");
    session.serve();
  }

  sim::ActivityLog& log_;
  std::unique_ptr<sim::ServedBoard> board_;
};

}  // namespace
}  // namespace datum::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum::test;
  static datum::sim::ActivityLog log(false, std::fopen("/dev/null", "w"));
  static bool first = true;  // opens what stays open
  const std::size_t before = open_descriptors();
  Input input(data, size);
  {
    Server server(log);
    server.serve(input);
    server.check_alive();
  }
  require(first || open_descriptors() == before, "a client leaves no descriptors behind");
  first = false;
  return 0;
}
