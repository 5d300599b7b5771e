"""What bash offers while a command is typed: what the program takes, no less and no more."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

import harness
from harness import ENVIRONMENT, PROJECT, fabtap, main

# as bash does it for a typed line whose cursor is at its end: words are cut at colons and equal signs, too
SCRIPT = r"""
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
shopt -s extglob
line=$2
[[ $line == *[[:space:]] ]] && line+=$'\x01'
line=${line//:/ : }
line=${line//=/ = }
read -ra COMP_WORDS <<<"$line"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_fabtap fabtap "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def offered(line):
    """The words that stand for the rest of the line."""
    path = "%s:%s" % (Path(harness.PROGRAM).parent, ENVIRONMENT["PATH"])
    done = subprocess.run(["bash", "-c", SCRIPT, "bash", PROJECT / "analyzer/shell/completion.bash", line],
                          env={**ENVIRONMENT, "PATH": path}, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    return set(done.stdout.split())


def usage(*verb):
    return fabtap("help", *verb).out.decode()


def verbs():
    return set(re.findall(r"^  (\w+)  ", usage(), re.M))


@unittest.skipIf(shutil.which("bash") is None, "bash is not installed: completion was not tried")
class Completion(unittest.TestCase):
    def test_every_verb_is_offered(self):
        self.assertEqual(offered("fabtap "), verbs() | {"--version", "--help"})
        self.assertEqual(offered("fabtap help "), verbs())
        self.assertEqual(offered("fabtap au"), {"audit"})

    def test_the_options_of_each_verb_are_offered(self):
        first = {"map": "map ask", "probe": "probe passive"}
        without_long_form = {"decode": {"-T", "-e"}}
        for verb in verbs() - {"help"}:
            told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", usage(verb))) | without_long_form.get(verb, set())
            self.assertEqual(offered("fabtap %s -" % first.get(verb, verb)), told | {"--help"}, verb)

    def test_forms_of_output_are_offered(self):
        for verb in ("audit", "decode", "flows", "nccl", "explain", "map ask"):
            refusal = fabtap(*verb.split(), "-o", "nonsense").err.decode()
            named = set(re.findall(r"\w+", refusal.partition("nonsense: not ")[2])) - {"or"}
            self.assertGreater(len(named), 1, refusal)
            for option in ("-o", "--output"):
                self.assertEqual(offered("fabtap %s %s " % (verb, option)), named, verb)

    def test_fields_of_flows_are_offered(self):
        for word in offered("fabtap flows --where "):
            self.assertIn(" %s" % word.rstrip("="), re.sub(r"[,(]", " ", usage("flows").partition("--where")[2]))
        for word in offered("fabtap flows --sort "):
            run = fabtap("flows", "--sort", word, "/dev/null")
            self.assertNotIn("no such field", run.err.decode())

    def test_map_and_probe_offer_what_they_do(self):
        self.assertEqual(offered("fabtap map "), set(re.findall(r"^  map (\w+) ", usage("map"), re.M)))
        self.assertEqual(offered("fabtap probe "), {"passive"})

    def test_names_of_fields_are_offered_as_far_as_they_are_typed(self):
        listed = {line.split(" ")[0] for line in fabtap("decode", "--list-fields").out.decode().splitlines()}
        self.assertEqual(offered("fabtap decode -T fields -e "), listed)
        self.assertEqual(offered("fabtap decode -T fields -e infiniband.bth.p"),
                         {name for name in listed if name.startswith("infiniband.bth.p")})


if __name__ == "__main__":
    main()
