#include "tests/unit/sim/fst_file.hpp"

#include <gtkwave/fstapi.h>

namespace datum::test {

namespace {

constexpr std::uint64_t cycle_ps = 3333;

void add_change(void* to, std::uint64_t time, fstHandle, const unsigned char* bits) {
  std::uint64_t value = 0;
  for (const unsigned char* bit = bits; *bit != '\0'; ++bit) {
    value = (value << 1U) | (*bit == '1' ? 1U : 0U);
  }
  static_cast<std::vector<FstFile::Change>*>(to)->push_back({time / cycle_ps, value});
}

/// The range that stands behind a name is none of it.
std::string without_range(const char* name) {
  std::string text = name;
  return text.substr(0, text.find(' '));
}

}  // namespace

FstFile::FstFile(const std::string& file) : reader_(fstReaderOpen(file.c_str())) {
  while (const fstHier* const at = reader_ == nullptr ? nullptr : fstReaderIterateHier(reader_)) {
    if (at->htyp == FST_HT_SCOPE) {
      static_cast<void>(fstReaderPushScope(reader_, at->u.scope.name, nullptr));
    } else if (at->htyp == FST_HT_UPSCOPE) {
      static_cast<void>(fstReaderPopScope(reader_));
    } else if (at->htyp == FST_HT_VAR) {
      handles_[std::string(fstReaderGetCurrentFlatScope(reader_)) + "." + without_range(at->u.var.name)] =
          at->u.var.handle;
    }
  }
}

FstFile::~FstFile() {
  if (reader_ != nullptr) {
    fstReaderClose(reader_);
  }
}

bool FstFile::has_below(const std::string& scope) const {
  const auto at = handles_.lower_bound(scope + ".");
  return at != handles_.end() && at->first.starts_with(scope + ".");
}

std::uint64_t FstFile::first_cycle() const { return fstReaderGetStartTime(reader_) / cycle_ps; }

std::uint64_t FstFile::last_cycle() const { return fstReaderGetEndTime(reader_) / cycle_ps; }

std::vector<FstFile::Change> FstFile::changes_of(const std::string& signal) const {
  std::vector<Change> changes;
  if (const auto at = handles_.find(signal); at != handles_.end()) {
    fstReaderClrFacProcessMaskAll(reader_);
    fstReaderSetFacProcessMask(reader_, at->second);
    fstReaderIterBlocks(reader_, &add_change, &changes, nullptr);
  }
  return changes;
}

}  // namespace datum::test
