#include "tests/contract/contract_board.hpp"

#include <algorithm>
#include <cctype>

#include "sim/backend.hpp"

namespace datum::test {

std::vector<std::string> contract_addresses() {
  std::vector<std::string> addresses;
  std::string list = DATUM_CONTRACT_BOARDS;
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(' ', at), list.size());
    addresses.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return addresses;
}

std::vector<std::string> step_locked_addresses() {
  auto addresses = contract_addresses();
  std::erase_if(addresses,
                [](const std::string& address) { return address.find("step") == std::string::npos; });
  return addresses;
}

std::string address_as_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char letter : info.param) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      name += letter;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') {
    name.pop_back();
  }
  return name;
}

Result<std::unique_ptr<board::PcieFunction>> open_board(std::string address, const std::string& options) {
  if (!options.empty()) {
    address += address.back() == ':' ? options : "," + options;
  }
  const auto scheme = address.substr(0, address.find(':'));
  for (const auto& backend : sim::backends()) {
    if (backend.scheme == scheme) {
      return backend.open(address);
    }
  }
  return make_error(ErrorCode::not_available, "no backend for " + address);
}

}  // namespace datum::test
