package dev.puri.benchmarks.data;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.LongFunction;
import org.apache.avro.Schema;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Rows and documents of tracks, users, playlists and comments, as the topology writes them. Each is computed from its
 * number.
 */
public final class SearchDocuments {
    private static final String NAMESPACE = "soundcloud";

    /** The schema id of the documents in the topic. */
    public static final int SCHEMA_ID = 2;
    /** The schema id of the declarations in the topic. */
    public static final int DECLARATION_SCHEMA_ID = 3;

    private static final RecordWriter<dev.puri.schemas.avro.Document> WRITER =
            RecordWriter.of(dev.puri.schemas.avro.Document.class);
    private static final RecordWriter<CollectionsEntry> DECLARATION_WRITER = RecordWriter.of(CollectionsEntry.class);

    private SearchDocuments() {}

    private enum SearchedCollection {
        TRACKS,
        USERS,
        PLAYLISTS,
        COMMENTS;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns the collection of a document; six of ten documents are tracks. */
    private static SearchedCollection collection(long number) {
        return switch ((int) (number % 10)) {
            case 6, 7 -> SearchedCollection.USERS;
            case 8 -> SearchedCollection.PLAYLISTS;
            case 9 -> SearchedCollection.COMMENTS;
            default -> SearchedCollection.TRACKS;
        };
    }

    /** Returns the pURI of the document with a number. */
    public static Puri puri(long number) {
        return Puri.of(NAMESPACE, collection(number).text(), Long.toString(1_000_000_000L + number));
    }

    /** Returns the row with a number. */
    public static Row row(long number) {
        return Population.row(number, 0);
    }

    /** Returns the document with a number. */
    public static Document document(long number) {
        Row row = row(number);
        return new Document(
                row.owner(), row.shard(), row.handle(), row.status(), null, attributes(number), row.position());
    }

    /** Returns the attributes of the document with a number: a name or a title, and often a longer text. */
    public static Map<String, String> attributes(long number) {
        Random random = new Random(Population.mixed(number));
        return switch (collection(number)) {
            case TRACKS ->
                Map.of(
                        "title", Vocabulary.text(2 + random.nextInt(3), random),
                        "artist", Vocabulary.text(2, random),
                        "description", Vocabulary.text(1 + random.nextInt(40), random));
            case USERS -> Map.of("name", Vocabulary.text(2, random), "city", Vocabulary.word(random));
            case PLAYLISTS ->
                Map.of(
                        "title", Vocabulary.text(2 + random.nextInt(3), random),
                        "description", Vocabulary.text(1 + random.nextInt(15), random));
            case COMMENTS -> Map.of("text", Vocabulary.text(5 + random.nextInt(20), random));
        };
    }

    /** Publishes declarations, rows and documents. */
    public static void publish(String bootstrapServers, long count) throws Exception {
        Population.publish(bootstrapServers, 0, SearchedCollection.values().length, () -> SearchDocuments::declaration);
        Population.publish(bootstrapServers, 0, count, () -> Population.records(SearchDocuments::puri, 0));
        Population.publish(bootstrapServers, 0, count, SearchDocuments::records);
    }

    /** Returns the declaration of a collection, because an indexer waits for it. */
    private static ProducerRecord<byte[], byte[]> declaration(long ordinal) {
        Collection collection = new Collection(
                NAMESPACE,
                SearchedCollection.values()[(int) ordinal].text(),
                null,
                Set.of(),
                true,
                true,
                "Documents of a benchmark.",
                false);
        return new ProducerRecord<>(
                Topics.COLLECTIONS,
                Population.ascii(collection.key()),
                DECLARATION_WRITER.encode(DECLARATION_SCHEMA_ID, DeclarationAvro.toAvro(collection)));
    }

    private static LongFunction<ProducerRecord<byte[], byte[]>> records() {
        return number -> {
            Document document = document(number);
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    Topics.DOCUMENTS, puri(number).toBytes(), WRITER.encode(SCHEMA_ID, DocumentAvro.toAvro(document)));
            record.headers()
                    .add(Position.HEADER, Population.ascii(document.position().toString()));
            return record;
        };
    }

    /** Returns the schema of documents. */
    public static Schema schema() {
        return WRITER.schema();
    }

    /** Returns the schema of declarations. */
    public static Schema declarationSchema() {
        return DECLARATION_WRITER.schema();
    }
}
