// The board contract over the vfio-user protocol: the board is in a `datum-board` process of its own.
#include <csignal>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/contract/beyond.hpp"
#include "tests/contract/contract_board.hpp"
#include "tests/support/board_server_process.hpp"
#include "vfio_backend/user/user_backend.hpp"

namespace datum::test {

namespace {

/// "vfio-user:model.sock" is served with the address "model:". Paths are relative to a folder of this
/// process.
const std::string prefix = "vfio-user:";
const std::string suffix = ".sock";

/// The server of each socket; the one before is ended first.
BoardServerProcess& serve(const std::string& path, const std::string& board) {
  static std::map<std::string, std::unique_ptr<BoardServerProcess>> servers;
  auto& server = servers[path];
  if (server != nullptr) {
    server->send(SIGTERM);
    static_cast<void>(server->wait());
    server.reset();
  }
  server = std::make_unique<BoardServerProcess>(board, path);
  return *server;
}

}  // namespace

std::vector<std::string> contract_addresses() {
  std::vector<std::string> addresses;
  const std::string kinds = DATUM_SERVED_BOARDS;
  for (std::size_t at = 0; at < kinds.size();) {
    const auto end = std::min(kinds.find(' ', at), kinds.size());
    addresses.push_back(prefix + kinds.substr(at, end - at) + suffix);
    at = end + 1;
  }
  return addresses;
}

std::vector<std::string> step_locked_addresses() { return {}; }

std::string address_as_name(const ::testing::TestParamInfo<std::string>& info) {
  return "served_" + info.param.substr(prefix.size(), info.param.size() - prefix.size() - suffix.size());
}

Result<std::unique_ptr<board::PcieFunction>> open_board(std::string address, const std::string& options) {
  const std::string path = address.substr(prefix.size());
  serve(path, path.substr(0, path.size() - suffix.size()) + ":" + options);
  return vfio_user::backend().open(address);
}

}  // namespace datum::test

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  std::string& filter = ::testing::GTEST_FLAG(filter);
  filter += (filter.find('-') == std::string::npos ? "-" : ":") + std::string(datum::test::beyond_protocol);
  const datum::test::PrivateFolder folder;
  if (::chdir(folder.path().c_str()) != 0) {
    return 1;
  }
  return RUN_ALL_TESTS();
}
