"""scripts/setup says plainly what it needs when it cannot have it, and leaves nothing half done."""

import unittest

from script_sandbox import ScriptSandbox

# Answers as on a machine on which all packages but $MISSING are installed.
DPKG_QUERY = """
for name in "$@"; do
  case $name in
    -*|'${'*) continue ;;
  esac
  [[ " $MISSING " == *" $name "* ]] || echo "ii  $name"
done
"""
NO_NEW_LOADER = "exit 0"  # ldconfig that knows no library


class SetUp(unittest.TestCase):
    def setUp(self) -> None:
        self.sandbox = ScriptSandbox()
        self.addCleanup(self.sandbox.close)
        self.sandbox.tool("dpkg-query", DPKG_QUERY)
        self.sandbox.tool("dpkg", "exit 0")
        self.sandbox.tool("ldconfig", NO_NEW_LOADER)
        self.sandbox.tool("sudo", "exit 1")
        self.sandbox.tool("apt-get", f'echo "apt-get $*" >>{self.sandbox.root}/calls; exit 1')

    def calls(self) -> str:
        file = self.sandbox.root / "calls"
        return file.read_text() if file.exists() else ""

    def given_unpacked_loader(self) -> None:
        headers = self.sandbox.clone / ".cache/loader/usr/include/level_zero"
        headers.mkdir(parents=True)
        (headers / "ze_api.h").write_text("    ZE_API_VERSION_CURRENT = ZE_MAKE_VERSION( 1, 17 ),\n")
        (self.sandbox.clone / ".cache/loader/complete").touch()
        self.sandbox.give_to_ordinary_user()

    def test_given_everything_when_run_then_it_does_and_says_nothing(self) -> None:
        self.given_unpacked_loader()
        result = self.sandbox.run("setup", "--ci", MISSING="")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.calls(), "")

    def test_given_missing_packages_and_no_privilege_when_run_then_the_sentence_names_them(self) -> None:
        self.given_unpacked_loader()
        result = self.sandbox.run("setup", MISSING="verilator libfmt-dev")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            result.stderr,
            r"^setup: these packages are missing: verilator libfmt-dev\. sudo does not let \S+ install them; "
            r"ask an administrator for: apt-get install verilator libfmt-dev\n$",
        )
        self.assertEqual(self.calls(), "")

    def test_given_sudo_when_packages_are_missing_then_only_those_are_asked_for(self) -> None:
        self.given_unpacked_loader()
        self.sandbox.tool("sudo", '[[ $1 != -n ]] || shift; exec "$@"')
        self.sandbox.tool("apt-get", f'echo "apt-get $*" >>{self.sandbox.root}/calls; touch {self.sandbox.root}/installed')
        self.sandbox.tool("dpkg-query", f"[[ ! -e {self.sandbox.root}/installed ]] || MISSING=''\n{DPKG_QUERY}")
        result = self.sandbox.run("setup", MISSING="verilator libfmt-dev")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("Missing Debian packages: verilator libfmt-dev\n", result.stdout)
        self.assertRegex(self.calls(), r"(?m)^apt-get .* update$")
        self.assertRegex(self.calls(), r"(?m)^apt-get .* install --no-install-recommends verilator libfmt-dev$")

    def test_given_apt_that_fails_when_packages_are_missing_then_the_sentence_names_packages_and_log(self) -> None:
        self.given_unpacked_loader()
        self.sandbox.tool("sudo", '[[ $1 != -n ]] || shift; exec "$@"')
        result = self.sandbox.run("setup", MISSING="verilator")
        self.assertEqual(result.returncode, 1)
        self.assertIn("setup: apt-get could not install: verilator.", result.stderr)
        self.assertIn("packages.log", result.stderr)

    def test_given_the_checks_packages_when_not_asked_for_then_they_are_not_missed(self) -> None:
        self.given_unpacked_loader()
        self.assertEqual(self.sandbox.run("setup", MISSING="cppcheck").returncode, 0)
        self.assertEqual(self.sandbox.run("setup", "--ci", MISSING="cppcheck").returncode, 1)

    def test_given_no_mirror_when_there_is_no_loader_then_the_sentence_says_what_is_needed(self) -> None:
        cache = self.sandbox.root / "cache"
        # The system's own headers, whichever they are, must not decide this test.
        self.sandbox.tool("sed", '[[ " $* " == *" /usr/include/level_zero/ze_api.h "* ]] || exec /bin/sed "$@"')
        result = self.sandbox.run("setup", MISSING="", DATUM_CACHE=str(cache))
        self.assertEqual(result.returncode, 1)
        self.assertIn("A current Level Zero loader could not be had from suite forky", result.stdout)
        self.assertIn("building needs API 1.17 or newer", result.stdout)
        self.assertEqual(result.stderr, "setup: no Level Zero headers to build with\n")
        self.assertEqual(sorted(path.name for path in cache.iterdir()), ["log", "setup.lock"])

    def test_given_what_an_interrupted_run_left_when_run_again_then_it_is_swept_away(self) -> None:
        leftover = self.sandbox.clone / ".cache/loader.new.AbCdEf/root/usr"
        leftover.mkdir(parents=True)
        self.sandbox.give_to_ordinary_user()
        self.sandbox.run("setup", MISSING="")
        self.assertFalse((self.sandbox.clone / ".cache/loader.new.AbCdEf").exists())

    def test_given_a_cache_that_cannot_be_written_when_run_then_the_sentence_says_so(self) -> None:
        result = self.sandbox.run("setup", MISSING="", DATUM_CACHE="/proc/datum")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "Cannot write to /proc/datum; set DATUM_CACHE to a folder that you may write to.\n")

    def test_given_an_unknown_argument_when_run_then_it_is_refused(self) -> None:
        result = self.sandbox.run("setup", "--everything")
        self.assertEqual((result.returncode, result.stderr), (2, 'setup: unknown argument "--everything"; see --help\n'))


if __name__ == "__main__":
    unittest.main()
