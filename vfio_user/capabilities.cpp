#include "vfio_user/capabilities.hpp"

#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace datum::vfio_user {

namespace {

using Json = nlohmann::json;

constexpr std::size_t most_name_bytes = 200;
/// More nesting than any honest peer has, and far from what a parser's stack bears.
constexpr int most_depth = 16;

Error invalid(std::string sentence) { return make_error(ErrorCode::invalid_argument, std::move(sentence)); }

/// Takes `key` of `from` if it is there. False: it is no number between `least` and `most`.
template <class Number>
bool take_number(const Json& from, const char* key, Number& to, std::uint64_t least, std::uint64_t most) {
  const auto found = from.find(key);
  if (found == from.end()) {
    return true;
  }
  if (!found->is_number_unsigned()) {
    return false;
  }
  const auto value = found->get<std::uint64_t>();
  if (value < least || value > most) {
    return false;
  }
  to = static_cast<Number>(value);
  return true;
}

bool take_board(const Json& from, BoardCapabilities& to) {
  if (!from.is_object() ||
      !take_number(from, "wait_scale", to.wait_scale, 1, std::numeric_limits<std::uint16_t>::max()) ||
      !take_number(from, "iova_bits", to.iova_bits, 32, 64) ||
      !take_number(from, "max_locked_bytes", to.max_locked_bytes, 0,
                   std::numeric_limits<std::uint64_t>::max())) {
    return false;
  }
  const auto name = from.find("name");
  if (name == from.end()) {
    return true;
  }
  if (!name->is_string() || name->get_ref<const std::string&>().size() > most_name_bytes) {
    return false;
  }
  for (const char letter : name->get_ref<const std::string&>()) {
    const bool printable = letter >= ' ' && letter <= '~';
    to.name += printable ? letter : '?';  // it is printed on terminals
  }
  return true;
}

Json parse(std::string_view text) {
  const auto callback = [](int depth, Json::parse_event_t, Json&) { return depth <= most_depth; };
  return Json::parse(text, callback, false);
}

}  // namespace

std::vector<std::byte> encode_version(const Capabilities& capabilities) {
  Json inner{{"max_msg_fds", capabilities.max_descriptors},
             {"max_data_xfer_size", capabilities.max_data_bytes},
             {"max_dma_maps", capabilities.max_mappings},
             {"pgsizes", capabilities.page_sizes}};
  if (capabilities.board) {
    inner["datum"] = {{"name", capabilities.board->name},
                      {"wait_scale", capabilities.board->wait_scale},
                      {"iova_bits", capabilities.board->iova_bits},
                      {"max_locked_bytes", capabilities.board->max_locked_bytes}};
  }
  const std::string text = Json{{"capabilities", inner}}.dump(-1, ' ', true, Json::error_handler_t::replace);
  auto body = as_message_body(Version{protocol_major, protocol_minor});
  const auto bytes = std::as_bytes(std::span{text.c_str(), text.size() + 1});
  body.insert(body.end(), bytes.begin(), bytes.end());
  return body;
}

Result<Capabilities> decode_version(std::span<const std::byte> body) {
  if (body.size() < sizeof(Version)) {
    return invalid(fmt::format("a VERSION message has {} bytes", body.size()));
  }
  const auto version = read_body<Version>(body);
  if (version.major != protocol_major) {
    return make_error(ErrorCode::unsupported_version,
                      fmt::format("the peer speaks version {}.{} of vfio-user, this is {}.{}", version.major,
                                  version.minor, protocol_major, protocol_minor));
  }
  Capabilities result;
  const auto rest = body.subspan(sizeof(Version));
  if (rest.empty()) {
    return result;
  }
  if (rest.back() != std::byte{0}) {
    return invalid("the capabilities of a VERSION message do not end with a NUL");
  }
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size() - 1);
  const Json json = parse(text);
  if (!json.is_object()) {
    return invalid("the capabilities of a VERSION message are no JSON object");
  }
  const auto found = json.find("capabilities");
  if (found == json.end()) {
    return result;
  }
  constexpr auto most_number = std::numeric_limits<std::uint64_t>::max();
  constexpr auto most_word = std::numeric_limits<std::uint32_t>::max();
  if (!found->is_object() || !take_number(*found, "max_msg_fds", result.max_descriptors, 0, most_word) ||
      !take_number(*found, "max_data_xfer_size", result.max_data_bytes, 1, most_word) ||
      !take_number(*found, "max_dma_maps", result.max_mappings, 0, most_number) ||
      !take_number(*found, "pgsizes", result.page_sizes, 0, most_number)) {
    return invalid("a capability of a VERSION message has a value that cannot be");
  }
  if (const auto board = found->find("datum"); board != found->end()) {
    result.board.emplace();
    if (!take_board(*board, *result.board)) {
      return invalid("the capability 'datum' of a VERSION message has a value that cannot be");
    }
  }
  return result;
}

}  // namespace datum::vfio_user
