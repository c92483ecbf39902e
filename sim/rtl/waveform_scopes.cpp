#include "sim/rtl/waveform_scopes.hpp"

#include <algorithm>
#include <gtkwave/fstapi.h>
#include <iterator>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <datum/base/shown_text.hpp>

namespace datum::sim {

namespace {

constexpr std::ptrdiff_t deepest_shown = 2;  // the parts of the board

/// Instances of modules and blocks; structures are scopes in the file alone.
std::vector<std::string> scopes_in(const std::string& file) {
  std::vector<std::string> scopes;
  const std::unique_ptr<void, decltype(&fstReaderClose)> reader(fstReaderOpen(file.c_str()), &fstReaderClose);
  if (reader == nullptr) {
    return scopes;
  }
  while (const fstHier* const at = fstReaderIterateHier(reader.get())) {
    if (at->htyp == FST_HT_SCOPE) {
      const char* const name = fstReaderPushScope(reader.get(), at->u.scope.name, nullptr);
      if (at->u.scope.typ == FST_ST_VCD_MODULE) {
        scopes.emplace_back(name);
      }
    } else if (at->htyp == FST_HT_UPSCOPE) {
      static_cast<void>(fstReaderPopScope(reader.get()));
    }
  }
  return scopes;
}

bool is_called(std::string_view scope, std::string_view name) {
  return scope.ends_with(name) &&
         (scope.size() == name.size() || scope[scope.size() - name.size() - 1] == '.');
}

Error refuse_scope(const std::string& name, const std::vector<std::string>& scopes) {
  std::vector<std::string> parts;
  std::ranges::copy_if(scopes, std::back_inserter(parts), [](const std::string& scope) {
    return std::ranges::count(scope, '.') <= deepest_shown;
  });
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("board option 'wave_scope': the design has no '{}'; some that it has are {}",
                                shown_text(name), fmt::join(parts, ", ")));
}

}  // namespace

Result<std::vector<std::string>> find_waveform_scopes(VerilatedBoard& board, const std::string& file,
                                                      const std::vector<std::string>& wanted) {
  board.open_waveform(file, {});
  board.close_waveform();
  const std::vector<std::string> scopes = scopes_in(file);
  std::vector<std::string> found;
  for (const std::string& name : wanted) {
    const std::size_t before = found.size();
    std::ranges::copy_if(scopes, std::back_inserter(found),
                         [&](const std::string& scope) { return is_called(scope, name); });
    if (found.size() == before) {
      return refuse_scope(name, scopes);
    }
  }
  return found;
}

}  // namespace datum::sim
