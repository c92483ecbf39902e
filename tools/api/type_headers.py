"""Reads the structures, enumerations and result lists of the core interface from the Level Zero headers."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ddi_headers import HeaderError

_ENUM = re.compile(r"^typedef enum _(ze_\w+)\n\{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
_ENUMERATOR = re.compile(r"^\s+(ZE_\w+) = ([^,\n]+?),?\s*(?:///<|$)", re.MULTILINE)
_STRUCT = re.compile(r"^typedef struct _(ze_\w+)\n\{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(r"^\s+([\w ]+?[\s*]+)(\w+)(\[[^]]*\])?;", re.MULTILINE)
_RETURNS = re.compile(r"^/// @returns\n((?:///[^\n]*\n)*)ZE_APIEXPORT ze_result_t ZE_APICALL\n(\w+)\(", re.MULTILINE)
_CODE = re.compile(r"::ZE_RESULT_(?:ERROR_)?(\w+)")

# Structures whose enumerator is not named as they are.
_STRUCTURE_TYPES = {
    "ze_external_memory_import_win32_handle_t": "ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32",
    "ze_external_memory_export_win32_handle_t": "ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32",
    "ze_context_power_saving_hint_exp_desc_t": "ZE_STRUCTURE_TYPE_POWER_SAVING_HINT_EXP_DESC",
    "ze_event_pool_counter_based_exp_desc_t": "ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC",
    "ze_device_cache_line_size_ext_t": "ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT",
    "ze_device_pitched_alloc_exp_properties_t": "ZE_STRUCTURE_TYPE_PITCHED_ALLOC_DEVICE_EXP_PROPERTIES",
    "ze_image_memory_properties_exp_t": "ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES",
    "ze_image_bindless_exp_desc_t": "ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC",
    "ze_image_pitched_exp_desc_t": "ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC",
}


@dataclass(frozen=True)
class Structure:
    """A structure that begins with stype and pNext."""

    name: str
    stype: str  # its enumerator of ze_structure_type_t
    members: tuple[tuple[str, str], ...]  # type and name of each


@dataclass
class Types:
    enumerations: dict[str, dict[str, int]] = field(default_factory=dict)  # type -> enumerator -> value
    structures: dict[str, Structure] = field(default_factory=dict)  # type -> structure
    by_stype: dict[str, Structure] = field(default_factory=dict)
    results: dict[str, list[str]] = field(default_factory=dict)  # function -> codes, without ZE_RESULT_ERROR_

    def choices(self, type_name: str) -> dict[str, int] | None:
        """Enumerators of an enumeration, or of the bits of a flags type; None for any other type."""
        bits = type_name.removesuffix("_flags_t") + "_flag_t" if type_name.endswith("_flags_t") else type_name
        return self.enumerations.get(bits) if bits != "ze_structure_type_t" else None


# Structures of later versions of the API, as Datum defines them for headers that lack them.
_LATER_HEADER = Path(__file__).resolve().parents[2] / "include/datum/ze_ipc_phys_mem_handle_range.h"
_LATER_STYPE = re.compile(r"^#define (ZE_STRUCTURE_TYPE_\w+) \(\(ze_structure_type_t\)(0x[0-9a-fA-F]+)\)", re.MULTILINE)
_LATER_STRUCT = re.compile(r"^typedef struct (ze_\w+) \{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)


def read_types(include_folder: Path) -> Types:
    path = include_folder / "level_zero/ze_api.h"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise HeaderError(f"cannot read {path}: {error.strerror}") from error
    types = Types()
    for name, body in _ENUM.findall(text):
        types.enumerations[name] = {
            enumerator: _value(value) for enumerator, value in _ENUMERATOR.findall(body) if _is_plain(enumerator, value)
        }
    stypes = types.enumerations["ze_structure_type_t"]
    later = _LATER_HEADER.read_text(encoding="utf-8")
    stypes |= {name: _value(value) for name, value in _LATER_STYPE.findall(later)}
    for name, body in _STRUCT.findall(text) + _LATER_STRUCT.findall(later):
        stype = _STRUCTURE_TYPES.get(name, f"ZE_STRUCTURE_TYPE_{name[3:-2].upper()}")
        if stype in stypes:
            plain = re.sub(r"///<[^\n]*|/\*.*?\*/", "", body)
            members = tuple((kind.strip(), member) for kind, member, array in _MEMBER.findall(plain) if not array)
            types.structures[name] = Structure(name, stype, members)
            types.by_stype[stype] = types.structures[name]
    for comment, function in _RETURNS.findall(text):
        types.results[function] = list(dict.fromkeys(_CODE.findall(comment)))
    return types


def _is_plain(enumerator: str, value: str) -> bool:
    return not enumerator.endswith("_FORCE_UINT32") and re.fullmatch(r"0x[0-9a-fA-F]+|\d+|ZE_BIT\(\d+\)", value) is not None


def _value(text: str) -> int:
    bit = re.fullmatch(r"ZE_BIT\((\d+)\)", text)
    return 1 << int(bit[1]) if bit else int(text, 0)
