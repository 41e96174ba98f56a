"""Checks the events of concerts.py against the schema. Needs the packages of concerts.py, but no registry."""
import io
import unittest

import avro.io
import avro.schema

import concerts

SCHEMA = avro.schema.parse(concerts.SCHEMA)
CHANGES = [
    concerts.created("Ana Souza, Porto")["change"],
    ("Moved", {"owner": None, "shard": "concerts-2"}),
    ("Described", {"attributes": {"title": "João Souza, São Paulo"}}),
    ("Merged", {"into": "music:concerts:another"}),
    ("Deleted", {}),
    ("Erased", {}),
]


class ConcertsTest(unittest.TestCase):
    def test_a_value_begins_with_a_zero_byte_and_the_schema_id(self):
        value = concerts.encode(concerts.created("Ana Souza, Porto"), SCHEMA, 0x01020304)
        self.assertEqual(value[:5], b"\0\1\2\3\4")

    def test_each_type_of_change_is_written_as_itself(self):
        event = concerts.created("Ana Souza, Porto")
        before_change = concerts.encode({**event, "change": ("Erased", {})}, SCHEMA, 1)[:-1]
        for index, (name, fields) in enumerate(CHANGES):
            with self.subTest(name):
                value = concerts.encode({**event, "change": (name, fields)}, SCHEMA, 1)
                self.assertEqual(value[: len(before_change)], before_change)
                self.assertEqual(value[len(before_change)], 2 * index)
                read = avro.io.DatumReader(SCHEMA).read(avro.io.BinaryDecoder(io.BytesIO(value[5:])))
                self.assertEqual(read["change"], fields)
                self.assertEqual((read["puri"], read["eventId"]), (event["puri"], event["eventId"]))

    def test_a_concert_is_named_by_its_text_and_has_a_handle(self):
        event = concerts.created("Ana Souza, Porto")
        self.assertEqual(event["puri"], "music:concerts:ana%20souza,%20porto")
        self.assertRegex(event["change"][1]["handle"], "^cnc_[1-9a-z]{15}$")
        self.assertNotEqual(event["eventId"], event["change"][1]["uuid"])


if __name__ == "__main__":
    unittest.main()
