// A second service, in Node. It publishes a review of a track, waits until the registry has processed it, and resolves
// both names.
//
//   npm ci
//   node reviews.mjs TRACK TEXT
//
// PURI_BOOTSTRAP_SERVER, PURI_SCHEMA_REGISTRY and PURI_RESOLVER are the addresses of the registry. examples/music/run
// prints them.
import { AvroSerializer, SchemaRegistryClient, SerdeType } from '@confluentinc/schemaregistry';
import { Kafka, Partitioners } from 'kafkajs';
import { randomBytes } from 'node:crypto';

const TOPIC = 'puri.events.v1';
const {
  PURI_BOOTSTRAP_SERVER: brokers = '127.0.0.1:9092',
  PURI_SCHEMA_REGISTRY: schemas = 'http://127.0.0.1:8081/apis/ccompat/v7',
  PURI_RESOLVER: resolver = 'http://127.0.0.1:8080',
} = process.env;

/** Creates a UUIDv7: milliseconds, version, random bits. RFC 9562. */
function uuidv7(now = Date.now()) {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = (bytes[6] & 0x0f) | 0x70;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Creates the event of a new review. A service keeps it until it is published, so that a retry has the same ids. */
function created(text) {
  const uuid = uuidv7();
  return {
    eventId: uuidv7(),
    puri: `music:reviews:${uuid}`,
    occurredAt: Date.now(),
    source: 'reviews',
    uuid: null,
    expectedEpoch: null,
    change: {
      'dev.puri.schemas.avro.Created': {
        uuid,
        owner: 'reviews',
        shard: 'reviews-1',
        handle: null,
        attributes: { title: text },
      },
    },
  };
}

/** Publishes an event with its pURI as key. Returns the token of the event. */
async function publish(event) {
  const serializer = new AvroSerializer(
    SchemaRegistryClient.newClient({ baseURLs: [schemas] }),
    SerdeType.VALUE,
    // The registry has already registered its schemas. A producer must not add a version.
    { autoRegisterSchemas: false, useLatestVersion: true },
  );
  const producer = new Kafka({ clientId: 'reviews', brokers: brokers.split(','), logLevel: 1 }).producer({
    // The partitioner of Kafka's Java client, so that all events of a pURI go to one partition.
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  try {
    const value = await serializer.serialize(TOPIC, event);
    const [{ partition, baseOffset }] = await producer.send({
      topic: TOPIC,
      acks: -1,
      messages: [{ key: event.puri, value }],
    });
    return `${partition}-${baseOffset}`;
  } finally {
    await producer.disconnect();
  }
}

async function resolve(refs) {
  const response = await fetch(`${resolver}/v1/resolve?wait=10s`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refs }),
  });
  if (!response.ok) {
    throw new Error(`${response.status}: ${await response.text()}`);
  }
  return (await response.json()).results;
}

const [track, text] = process.argv.slice(2);
if (!text) {
  console.error('usage: node reviews.mjs TRACK TEXT');
  process.exit(2);
}
const event = created(text);
const at = await publish(event);
for (const result of await resolve([{ ref: event.puri, at }, track])) {
  console.log(JSON.stringify(result));
}
// Timers of the schema registry client keep the process alive.
process.exit(0);
