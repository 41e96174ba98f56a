package dev.puri.search.lucene;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Entry;
import dev.puri.search.index.Kind;
import dev.puri.search.words.Words;
import java.util.UUID;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.AnalyzerWrapper;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.Term;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/** The fields of an entry; RATIONALE.md has them as a table. */
final class Fields {
    /** Kind and pURI: the key. */
    static final String KEY = "key";

    /** Kind and status. */
    static final String STATE = "state";

    static final String NAMESPACE = "namespace";
    static final String COLLECTION = "collection";
    static final String SHARD = "shard";
    static final String OWNER = "owner";

    /** What brings equals into an order that stays: a hash of kind and pURI. */
    static final String TIE = "tie";

    /** Of identities only. */
    static final String HANDLE = "handle";

    /** Of identities only: the uuid's halves, such that numbers with a sign are in the order of its bits. */
    static final String UUID_HIGH = "uuid-high";

    static final String UUID_LOW = "uuid-low";

    /** Words of a document's short attributes, such as titles and names. */
    static final String BRIEF = "brief";

    /** Words of its other attributes. */
    static final String LONG = "long";

    /** All of it, as {@link StoredEntry} has it. */
    static final String ENTRY = "entry";

    /** Words that seem to stand between two attributes, so that no phrase reaches from one into the other. */
    private static final int GAP = 100;

    private Fields() {}

    /** The words of a field that has several attributes. */
    static Analyzer analyzer() {
        Analyzer words = Words.analyzer();
        return new AnalyzerWrapper(Analyzer.PER_FIELD_REUSE_STRATEGY) {
            @Override
            protected Analyzer getWrappedAnalyzer(String field) {
                return words;
            }

            @Override
            public int getPositionIncrementGap(String field) {
                return GAP;
            }
        };
    }

    /** What finds the one entry of a kind and pURI. */
    static Term key(Kind kind, Puri puri) {
        return new Term(KEY, letter(kind) + puri.toString());
    }

    /** What finds entries of a kind in a state. */
    static BytesRef state(Kind kind, Row.Status status) {
        return new BytesRef(letter(kind) + status.name());
    }

    static Term handle(Handle handle) {
        return new Term(HANDLE, handle.text());
    }

    private static String letter(Kind kind) {
        return switch (kind) {
            case IDENTITY -> "i";
            case DOCUMENT -> "d";
        };
    }

    static long high(UUID uuid) {
        return uuid.getMostSignificantBits() ^ Long.MIN_VALUE;
    }

    static long low(UUID uuid) {
        return uuid.getLeastSignificantBits() ^ Long.MIN_VALUE;
    }

    static Document of(Term key, Puri puri, Entry entry) {
        Document fields = new Document();
        BytesRef collection = new BytesRef(puri.qualifiedCollection());
        BytesRef shard = new BytesRef(entry.shard().text());
        fields.add(new StringField(KEY, key.bytes(), Field.Store.NO));
        fields.add(new StringField(STATE, state(entry.kind(), entry.status()), Field.Store.NO));
        fields.add(new StringField(NAMESPACE, puri.namespace(), Field.Store.NO));
        fields.add(new StringField(COLLECTION, collection, Field.Store.NO));
        fields.add(new SortedDocValuesField(COLLECTION, collection));
        fields.add(new StringField(SHARD, shard, Field.Store.NO));
        fields.add(new SortedDocValuesField(SHARD, shard));
        fields.add(new StringField(OWNER, entry.owner().text(), Field.Store.NO));
        fields.add(new NumericDocValuesField(TIE, StringHelper.murmurhash3_x64_128(key.bytes())[0]));
        fields.add(new StoredField(ENTRY, new StoredEntry(puri, entry).toBytes()));
        switch (entry) {
            case Entry.OfIdentity identity -> addRow(identity.row(), fields);
            case Entry.OfDocument document -> {
                for (String text : document.document().attributes().values()) {
                    fields.add(new TextField(
                            text.length() <= Words.MAX_BRIEF_CHARACTERS ? BRIEF : LONG, text, Field.Store.NO));
                }
            }
        }
        return fields;
    }

    private static void addRow(Row row, Document fields) {
        fields.add(new LongPoint(UUID_HIGH, high(row.uuid())));
        fields.add(new NumericDocValuesField(UUID_HIGH, high(row.uuid())));
        fields.add(new NumericDocValuesField(UUID_LOW, low(row.uuid())));
        if (row.handle() != null) {
            fields.add(new StringField(HANDLE, row.handle().text(), Field.Store.NO));
        }
    }
}
