"""A third service, in Python: it publishes concerts and prints the pURI of each with the token of its event.

    python3 concerts.py CONCERT... | python3 resolve.py

PURI_BOOTSTRAP_SERVER and PURI_SCHEMA_REGISTRY tell where the registry is; examples/music/run prints them.
Debian's packages python3-confluent-kafka and python3-avro have the two libraries.
"""
import datetime
import functools
import io
import json
import os
import pathlib
import sys
import urllib.error
import urllib.request

import avro.io
import avro.schema
import confluent_kafka

import names

TOPIC = "puri.events.v1"
BROKERS = os.environ.get("PURI_BOOTSTRAP_SERVER", "127.0.0.1:9092")
SCHEMAS = os.environ.get("PURI_SCHEMA_REGISTRY", "http://127.0.0.1:8081/apis/ccompat/v7")
# Another project would keep a copy of this file. Its version stays usable when the registry has a newer one.
SCHEMA = (pathlib.Path(__file__).resolve().parents[3] / "schemas/spec/avro/IdentityEvent.avsc").read_text()


class EventWriter(avro.io.DatumWriter):
    """Returns a change from its type and fields. The type is needed, because Deleted and Erased have no fields."""

    def write_union(self, writers_schema, datum, encoder):
        branches = writers_schema.schemas
        if isinstance(datum, tuple):
            name, datum = datum
            index = [branch.name for branch in branches].index(name)
        else:
            index = 0 if datum is None else 1  # every other union is of null and a type
        encoder.write_long(index)
        self.write_data(branches[index], datum, encoder)


def created(concert):
    """Returns the event of a new concert. A service keeps it until it is published, so a retry has the same ids."""
    return {
        "eventId": names.uuid7(),
        "puri": names.puri("music", "concerts", concert),
        "occurredAt": datetime.datetime.now(datetime.timezone.utc),
        "source": "concerts",
        "uuid": None,
        "expectedEpoch": None,
        "change": (
            "Created",
            {
                "uuid": names.uuid7(),
                "owner": "concerts",
                "shard": "concerts-1",
                "handle": names.handle("cnc"),
                "attributes": {"title": concert},
            },
        ),
    }


def schema_id():
    """Reads the id of SCHEMA from the schema registry. The registry has already registered it; a producer must not."""
    request = urllib.request.Request(
        f"{SCHEMAS}/subjects/{TOPIC}-value",
        data=json.dumps({"schema": SCHEMA}).encode(),
        headers={"Content-Type": "application/vnd.schemaregistry.v1+json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)["id"]
    except urllib.error.HTTPError as problem:
        sys.exit(f"{SCHEMAS} does not know the events' schema: {problem.code} {problem.read().decode()}")
    except OSError as problem:
        sys.exit(f"{SCHEMAS} does not answer: {problem}")


def encode(event, schema, identifier):
    """Encodes a value in Confluent's wire format: a zero byte, four bytes of schema id, the value."""
    value = io.BytesIO(b"\0" + identifier.to_bytes(4, "big"))
    value.seek(5)
    EventWriter().write_data(schema, event, avro.io.BinaryEncoder(value))
    return value.getvalue()


def publish(events):
    """Publishes events with their pURIs as keys. Returns the token of each event."""
    schema, identifier = avro.schema.parse(SCHEMA), schema_id()
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": BROKERS,
            "client.id": "concerts",
            # The partitioner of Kafka's Java client, so that all events of a pURI go to one partition.
            "partitioner": "murmur2_random",
            "acks": "all",
            # Retries of librdkafka write no duplicates and keep the order.
            "enable.idempotence": True,
            # With more, a partition whose leader has just started may lose the first batch (KAFKA-15591).
            "max.in.flight.requests.per.connection": 1,
            "delivery.timeout.ms": 30_000,
        }
    )
    tokens, failures = {}, []

    def delivered(event, error, record):
        if error:
            failures.append(f"{event['puri']}: {error.str()}")
        else:
            tokens[event["eventId"]] = f"{record.partition()}-{record.offset()}"

    for event in events:
        value = encode(event, schema, identifier)
        producer.produce(TOPIC, value=value, key=event["puri"], on_delivery=functools.partial(delivered, event))
    producer.flush()
    if failures:
        sys.exit(f"{BROKERS} did not acknowledge\n  " + "\n  ".join(failures))
    return [tokens[event["eventId"]] for event in events]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    concerts = [created(concert) for concert in sys.argv[1:]]
    for event, token in zip(concerts, publish(concerts)):
        print(event["puri"], token)
