"""Writes the linker's list of exports and the page that says what is built."""

from cpp_output import NOTICE
from function_list import FunctionList, ListedInterface


def exports_map(functions: FunctionList) -> str:
    """A linker version script that leaves nothing visible but the functions which fill tables."""
    lines = [f"/* {NOTICE} */", "{", "  global:"]
    lines += [f"    {table.table.getter};" for table in functions.tables()]
    return "\n".join(lines + ["  local:", "    *;", "};", ""])


def support_page(functions: FunctionList) -> str:
    """docs/api-support.md."""
    total, built = len(functions.entries()), sum(entry.built for entry in functions.entries())
    lines = [
        "# What is built of the Level Zero API",
        "",
        f"<!-- {NOTICE} -->",
        "",
        f"The driver reports API 1.{functions.minor} and has an entry for each of its {total} functions; {built} are built. The",
        "others answer `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE`, whatever their arguments, and `zeDriverGetLastErrorDescription`",
        "then names the function; those that return no result code answer as the specification says for a failure: a null handle,",
        "or `UINT32_MAX` for an identifier.",
        "",
        "| interface | functions | built |",
        "|---|---:|---:|",
    ]
    for interface in functions.interfaces:
        entries = [entry for table in interface.tables for entry in table.entries]
        lines.append(f"| {interface.interface.title} | {len(entries)} | {sum(entry.built for entry in entries)} |")
    for interface in functions.interfaces:
        lines += _interface_section(interface)
    return "\n".join(lines + [""])


def _interface_section(interface: ListedInterface) -> list[str]:
    title = f"{interface.interface.title.capitalize()} (`{interface.interface.prefix}`)"
    lines = ["", f"## {title}", "", "| table | function | since | built |", "|---|---|---|---|"]
    for table in interface.tables:
        for each in table.entries:
            mark = "yes" if each.built else ""
            lines.append(f"| {table.table.field} | `{each.entry.function.name}` | 1.{each.since} | {mark} |")
    return lines
