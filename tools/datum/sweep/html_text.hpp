// Text as it stands in HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace datum::tool {

inline std::string html_text(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    default:
      safe += letter;
    }
  }
  return safe;
}

}  // namespace datum::tool
