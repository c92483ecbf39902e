"""The stages of scripts/test that consist of tests: which there are, what they may take, and the table at the end."""

from dataclasses import dataclass

# Stage -> seconds that its tests may take together, on two cores. docs/testing.md repeats them; a test compares.
TEST_BUDGETS = {
    "unit": 30,
    "contract": 120,
    "api": 180,
    "conformance": 5,
    "parity": 80,
    "rtl": 240,
    "vm": 180,
    "install": 45,
    "clients": 300,
    "lint": 45,
    "valgrind": 240,
    "asan": 180,
    "tsan": 240,
    "fuzz": 180,
}

# Mode of scripts/test -> the stages that it runs. A stage without a single test is a failure, not a success.
MODE_STAGES = {
    "quick": ["unit", "contract"],
    "newcomer": ["unit", "contract", "api", "parity", "vm"],
    "ci": ["unit", "contract", "api", "conformance", "parity", "rtl", "vm", "install", "lint", "asan", "tsan", "fuzz"],
    "all": ["unit", "contract", "api", "conformance", "parity", "rtl", "vm", "install", "clients", "lint", "valgrind", "asan", "tsan", "fuzz"],
}

# Labels of tests that a mode does not run, whatever their stage.
LEFT_OUT = {"quick": {"gate", "long"}, "newcomer": {"gate", "long"}, "ci": {"long"}, "all": set()}


@dataclass
class Stage:
    """One row of the table."""

    name: str
    budget_s: int
    seconds: float
    outcome: str  # "passed", "failed" or "empty"
    tests: int = 0
    skipped: int = 0


def read_stages(text: str) -> list[Stage]:
    """The stages that scripts/test has noted: lines of name, budget, seconds and outcome, separated by tabs."""
    stages = []
    for line in text.splitlines():
        name, budget, seconds, outcome = line.split("\t")
        stages.append(Stage(name, int(budget), float(seconds), outcome))
    return stages


def format_table(stages: list[Stage]) -> str:
    lines = [f"{'stage':<12} {'tests':>6} {'seconds':>9} {'budget':>7}  result"]
    for stage in stages:
        tests = str(stage.tests) if stage.tests else "-"
        skipped = f", {stage.skipped} skipped" if stage.skipped else ""
        late = ", over its budget" if stage.seconds > stage.budget_s else ""
        lines.append(f"{stage.name:<12} {tests:>6} {stage.seconds:>9.1f} {stage.budget_s:>7}  {stage.outcome}{skipped}{late}")
    return "\n".join(lines)
