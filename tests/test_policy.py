"""Policies: presets that can be asked, and mistakes refused with their line."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from trajlab import decide
from trajlab.cli import main
from trajlab.decide.policy import Policy, presets
from trajlab.errors import PolicyError

BROKEN = Path(__file__).parents[1] / "fixtures" / "broken" / "policies"
RULE = 'name = "p"\n\n[[rule]]\nrule = "contributors"\nat_least = 10\n'


@pytest.mark.parametrize("name", presets())
def test_a_preset_says_where_its_limits_come_from(name):
    policy = Policy.load(name)
    assert policy.name == name
    assert policy.title
    assert policy.source
    assert policy.says
    assert policy.checked
    assert policy.rules
    assert all(rule.why for rule in policy.rules)


def test_the_presets_are_those_of_the_documentation():
    own = {"strict", "research", "open-data"}
    assert own <= set(presets())
    assert {"flowkit", "ine-es", "swisscom", "un-mpd", "mds", "acro", "multimno", "google-eie"} <= set(presets())


def test_the_hash_is_that_of_the_text_and_a_line_end_of_windows_changes_nothing():
    assert Policy.parse(RULE).hash == Policy.parse(RULE.replace("\n", "\r\n")).hash
    assert Policy.parse(RULE).hash != Policy.parse(RULE.replace("10", "11")).hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "p.toml: this is not TOML: Invalid value (at end of document)"),
        ('title = "t"\n', 'p.toml: a policy needs a name, such as name = "our-office"'),
        ('name = "p"\n', "p.toml: a policy needs rules: begin each with [[rule]] on a line of its own"),
        ('name = "p"\nrule = "x"\n', "p.toml: a policy needs rules: begin each with [[rule]] on a line of its own"),
        ("name = 3\n" + RULE[11:], "p.toml, line 1: name must be a text in quotation marks"),
        ('nmae = "p"\n' + RULE, ("p.toml, line 1: 'nmae' is nothing that a policy says; it says name, title, source, "
         "says, checked, [[rule]]")),
        (RULE + "\n[[rule]]\nat_least = 3\n", ('p.toml, line 7: a rule begins with its name, such as rule = '
         '"contributors"')),
        (RULE + "\n[[rule]]\n# a remark\nrule = 'no'\n", "p.toml, line 9: no rule named 'no'; there are: "
         + ", ".join(decide.names())),
        (RULE.replace("at_least = 10", ""), "p.toml, line 4: contributors needs a limit: at_least = a number"),
        (RULE.replace("at_least", "at_most"), "p.toml, line 5: the limit of contributors is at_least, not at_most"),
        (RULE.replace("10", '"ten"'), "p.toml, line 5: at_least must be a number, 0 or more, not 'ten'"),
        (RULE.replace("10", "-1"), "p.toml, line 5: at_least must be a number, 0 or more, not -1"),
        (RULE.replace("10", "nan"), "p.toml, line 5: at_least must be a number, 0 or more, not nan"),
        (RULE.replace("10", "true"), "p.toml, line 5: at_least must be a number, 0 or more, not true"),
        (RULE + "tables = 'both'\n", ("p.toml, line 6: contributors has no setting 'tables'; it takes at_least, table, "
         "unless_epsilon")),
        (RULE + "table = 3\n", "p.toml, line 6: table of contributors must be a text in quotation marks, not 3"),
        (RULE + "table = 'all'\n", "p.toml, line 4: no table named 'all'; there are: both, flow, occupancy"),
        (RULE + "exception = ''\n", "p.toml, line 6: exception must be a text in quotation marks"),
        (RULE + "[[rule]]\nrule = 'recovery'\nat_most = 12\n", ("p.toml, line 8: at_most of recovery is a share from 0 "
         "to 1, not 12")),
        (RULE + "[[rule]]\nrule = 'recovery'\nat_most = 0.1\nattack = 'xu'\n", ("p.toml, line 7: no attack named 'xu'; "
         "there are: dsilva2024, habits, shuffle, stay, xu2017")),
        (RULE + "[[rule]]\nrule = 'recovery'\nat_most = 0.1\nover_control = 1\n", ("p.toml, line 9: over_control of "
         "recovery must be true or false, not 1")),
        (RULE + "[[rule]]\nrule = 'singling_out'\nat_most = 0.1\nsearched = 'tracks'\n", ("p.toml, line 7: searched must "
         "be 'traces' or 'recovered:' and an attack, not 'tracks'")),
        (RULE + "[[rule]]\nrule = 'dominance'\nat_most = 0.1\nlargest = 0\n", ("p.toml, line 7: largest must be a whole "
         "number, 1 or more, not 0")),
        (RULE + "[[rule]]\nrule = 'dominance'\nat_most = 0.1\nlargest = 1.5\n", ("p.toml, line 9: largest of dominance "
         "must be a whole number, not 1.5")),
        (RULE + "[[rule]]\nrule = 'residents'\nat_least = 10\nshare = 2\n", ("p.toml, line 7: share must be above 0 and "
         "at most 1, not 2")),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_line(text, message):
    with pytest.raises(PolicyError) as refused:
        Policy.parse(text, "p.toml")
    assert str(refused.value) == message


def test_a_policy_that_is_not_there_is_refused_with_the_presets(tmp_path):
    with pytest.raises(PolicyError, match="no policy 'strikt': it is neither a file nor one of the presets acro,"):
        Policy.load("strikt")
    (tmp_path / "p.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(PolicyError, match=r"p\.toml: a policy is text in UTF-8, and byte 8 is not"):
        Policy.load(tmp_path / "p.toml")
    with pytest.raises(PolicyError, match=r"unknown_rule\.toml, line 8: no rule named 'contributers'"):
        Policy.load(BROKEN / "unknown_rule.toml")


def test_an_exception_needs_a_rule_and_a_reason():
    policy = Policy.parse(RULE)
    assert policy.excepting({"1": "small villages "}).rules[0].exception == "small villages"
    assert policy.excepting({"contributors": "why"}).rules[0].exception == "why"
    with pytest.raises(PolicyError, match="the exception from 1 needs a reason in words: it stays in the record"):
        policy.excepting({"1": " "})
    with pytest.raises(PolicyError, match="policy p has no rule '2' to make an exception from; it has 1 contributors"):
        policy.excepting({"2": "why"})


def test_the_command_lists_presets_shows_one_and_explains_the_rules(capsys):
    assert main(["policy", "--list"]) == 0
    assert all(f"  {name}" in capsys.readouterr().out for name in ["acro"])
    assert main(["policy", "--show", "flowkit"]) == 0
    assert capsys.readouterr().out.strip() == Policy.load("flowkit").text.strip()
    assert main(["policy", "--rules"]) == 0
    listed = capsys.readouterr().out
    for name in decide.names():
        fields = dataclasses.fields(decide.rule(name))
        assert f"\n{name}: {decide.rule(name).limit}" in f"\n{listed}"
        assert all(field.name in listed for field in fields)
    assert main(["policy"]) == 2
    assert capsys.readouterr().err == "trajlab: say what to show: --list, --show NAME or --rules\n"
