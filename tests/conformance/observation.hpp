// How the generated observers look at a call's arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <datum/ze_ipc_phys_mem_handle_range.h>

#include "tests/conformance/fact_record.hpp"

namespace datum::test::conformance {

/// A flag or enumerator, and how the table of rows names it.
struct Choice {
  std::uint32_t value;
  const char* argument;
};

template <std::size_t count>
void note_flags(const Call& call, const Choice (&choices)[count], std::uint32_t flags) {
  for (const Choice& choice : choices) {
    if ((flags & choice.value) != 0) {
      note(call, choice.argument);
    }
  }
}

template <std::size_t count, typename Value>
void note_value(const Call& call, const Choice (&choices)[count], Value value) {
  for (const Choice& choice : choices) {
    if (static_cast<std::uint32_t>(value) == choice.value) {
      note(call, choice.argument);
    }
  }
}

/// Looks at a chain. Chains of tests may be circles, so only the beginning is followed.
template <typename NoteLinked>
void note_chain(const Call& call, const void* first, const NoteLinked& note_linked) {
  constexpr int longest_chain = 16;
  auto* link = static_cast<const ze_base_desc_t*>(first);
  for (int i = 0; link != nullptr && i < longest_chain; ++i) {
    note_linked(call, *link);
    link = static_cast<const ze_base_desc_t*>(link->pNext);
  }
}

/// Looks at the structure that the call was given, if any, and at what is chained to it. One that does not
/// say that it is of the function's type is left alone: its pNext may mean nothing.
template <typename Structure, typename NoteLinked, typename NoteMembers>
void note_structure(const Call& call, Structure* structure, std::initializer_list<Choice> own_types,
                    const NoteLinked& note_linked, const NoteMembers& note_members) {
  if (structure == nullptr) {
    return;
  }
  const auto* own = std::find_if(own_types.begin(), own_types.end(), [&](const Choice& type) {
    return type.value == static_cast<std::uint32_t>(structure->stype);
  });
  if (own == own_types.end()) {
    return;
  }
  note(call, own->argument);
  note_members(*structure);
  note_chain(call, structure->pNext, note_linked);
}

}  // namespace datum::test::conformance
