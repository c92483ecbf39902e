// The files of the fake machine: /sys and /proc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace datum::test {

/// Folders exist by what is in them, or by add_folder.
class FileTree {
 public:
  void add_file(const std::string& path, std::string content) { files_[path] = std::move(content); }

  void add_link(const std::string& path, std::string target) { links_[path] = std::move(target); }

  void add_folder(const std::string& path) { files_.erase(path), links_[path + "/."] = ""; }

  /// Removes `path` and all below it.
  void remove(const std::string& path) {
    const auto below = [&](const auto& entry) {
      return entry.first == path || entry.first.starts_with(path + "/");
    };
    std::erase_if(files_, below);
    std::erase_if(links_, below);
  }

  [[nodiscard]] std::optional<std::string> file(const std::string& path) const {
    const auto found = files_.find(follow(path));
    return found == files_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] std::optional<std::string> link(const std::string& path) const {
    const auto found = links_.find(path);
    return found == links_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Names in a folder; nothing: there is no such folder.
  [[nodiscard]] std::optional<std::vector<std::string>> list(const std::string& path) const {
    const std::string prefix = path + "/";
    std::map<std::string, bool> names;
    bool exists = false;
    for (const auto* entries : {&files_, &links_}) {
      for (const auto& [name, content] : *entries) {
        if (name.starts_with(prefix)) {
          exists = true;
          const std::string rest = name.substr(prefix.size());
          names[rest.substr(0, rest.find('/'))] = true;
        }
      }
    }
    if (!exists) {
      return std::nullopt;
    }
    names.erase(".");
    std::vector<std::string> list;
    for (const auto& [name, there] : names) {
      list.push_back(name);
    }
    return list;
  }

 private:
  /// Links to folders on the way, by absolute target.
  [[nodiscard]] std::string follow(const std::string& path) const {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
      const auto found = links_.find(path.substr(0, at));
      if (found != links_.end() && found->second.starts_with('/')) {
        return follow(found->second + path.substr(at));
      }
    }
    return path;
  }

  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> links_;
};

}  // namespace datum::test
