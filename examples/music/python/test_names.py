"""Checks names.py with the test vectors of schemas/spec.

    python3 -m unittest
"""
import json
import pathlib
import time
import unittest
import uuid

import names

SPEC = pathlib.Path(__file__).resolve().parents[3] / "schemas" / "spec"


def vectors(file, kind):
    found = [each for each in json.loads((SPEC / file).read_text()) if each["kind"] == kind]
    assert found, f"{file} has no {kind}"
    return found


def utf16(text, position):
    """Returns a position in UTF-16 code units, as the vectors count it."""
    return None if position is None else len(text[:position].encode("utf-16-le", "surrogatepass")) // 2


class NamesTest(unittest.TestCase):
    def test_reads_every_form_of_a_puri_as_its_canonical_form(self):
        for each in vectors("valid.json", "puri"):
            with self.subTest(each["name"]):
                self.assertEqual(names.canonical(each["input"]), each["canonical"])
                self.assertEqual(names.canonical(each["canonical"]), each["canonical"])

    def test_writes_plain_segments_as_the_canonical_form(self):
        for each in vectors("valid.json", "puri"):
            with self.subTest(each["name"]):
                self.assertEqual(names.puri(*each["plain"]), each["canonical"])

    def test_names_the_rule_that_a_text_breaks_and_the_position(self):
        for each in vectors("invalid.json", "puri"):
            with self.subTest(each["name"]), self.assertRaises(names.InvalidName) as caught:
                names.canonical(each["input"])
            self.assertEqual(
                (caught.exception.rule, utf16(each["input"], caught.exception.position)),
                (each["rule"], each["position"]),
                each["name"],
            )

    def test_refuses_plain_segments_that_no_puri_can_hold(self):
        for key, rule in {
            "": "EMPTY_SEGMENT",
            "a\nb": "CONTROL_CHARACTER",
            "\ud83d": "INVALID_UTF8",
            "/" * 86: "TOO_LONG",
        }.items():
            with self.subTest(rule), self.assertRaises(names.InvalidName) as caught:
                names.puri("n", "c", key)
            self.assertEqual(caught.exception.rule, rule)

    def test_mints_handles_of_the_prefix_and_the_alphabet(self):
        alphabet = {letter for each in vectors("valid.json", "handle") for letter in each["canonical"][4:]}
        minted = [names.handle("trk") for _ in range(1000)]
        self.assertEqual({(len(each), each[:4]) for each in minted}, {(19, "trk_")})
        self.assertEqual({letter for each in minted for letter in each[4:]}, alphabet)
        self.assertEqual(len(set(minted)), 1000)

    def test_refuses_prefixes_that_are_none(self):
        for each in vectors("valid.json", "prefix"):
            self.assertTrue(names.handle(each["canonical"]).startswith(each["canonical"] + "_"))
        for each in vectors("invalid.json", "prefix"):
            with self.subTest(each["name"]), self.assertRaises(ValueError):
                names.handle(each["input"])

    def test_mints_uuids_of_version_7_with_the_time(self):
        before = time.time_ns() // 1_000_000
        minted = uuid.UUID(names.uuid7())
        self.assertEqual((minted.version, minted.variant), (7, uuid.RFC_4122))
        self.assertTrue(before <= minted.int >> 80 <= time.time_ns() // 1_000_000)
        self.assertNotEqual(names.uuid7(), names.uuid7())


if __name__ == "__main__":
    unittest.main()
