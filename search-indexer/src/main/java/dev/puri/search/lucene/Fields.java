package dev.puri.search.lucene;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.search.index.EntryKind;
import dev.puri.search.words.IndexedText;
import dev.puri.search.words.ScoreModel;
import dev.puri.search.words.TextAnalysis;
import java.util.List;
import java.util.UUID;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.AnalyzerWrapper;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.Term;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/** Converts entries into Lucene documents, and names their fields. RATIONALE.md has a table of the fields. */
final class Fields {
    /** Kind and pURI. The term is unique. */
    static final String KEY = "key";

    /** Kind and status. */
    static final String STATE = "state";

    static final String NAMESPACE = "namespace";
    static final String COLLECTION = "collection";
    static final String SHARD = "shard";
    static final String OWNER = "owner";

    /** Orders hits with equal scores or uuids: {@link IndexedText#length}, then a hash of kind and pURI. */
    static final String TIE = "tie";

    /** Only identities have this field. */
    static final String HANDLE = "handle";

    /**
     * The first half of the uuid, with the sign bit flipped: Lucene orders signed numbers, and uuids are unsigned. Only
     * identities have this field.
     */
    static final String UUID_HIGH = "uuid-high";

    /** The second half of the uuid, also with the sign bit flipped. Only identities have this field. */
    static final String UUID_LOW = "uuid-low";

    /** The third segment of the pURI. Only identities have this field. */
    static final String IDENTIFIER = "identifier";

    /** Prefix of the words fields; see {@link #wordsField}. Only documents have these fields. */
    private static final String WORDS_PREFIX = "words-";

    /** The whole entry as {@link StoredEntry} writes it. */
    static final String ENTRY = "entry";

    /** {@link RowHash} of the entry when it was written. */
    static final String HASH = "hash";

    /** Kind and partition of the entry; see {@link #partition}. */
    static final String PARTITION = "partition";

    /** In {@link #TIE}, the hash has the lower 56 bits and the length has the bits above. */
    private static final int TIE_LENGTH_SHIFT = 56;

    private static final EntryKind[] KINDS = EntryKind.values();

    private static final FieldType WORDS_TYPE = TextField.TYPE_NOT_STORED;

    private Fields() {}

    /** Returns the analyzer of the words fields. A phrase cannot match across the position gap between attributes. */
    static Analyzer analyzer() {
        Analyzer words = TextAnalysis.analyzer();
        return new AnalyzerWrapper(Analyzer.PER_FIELD_REUSE_STRATEGY) {
            @Override
            protected Analyzer getWrappedAnalyzer(String field) {
                return words;
            }

            @Override
            public int getPositionIncrementGap(String field) {
                return ScoreModel.ATTRIBUTE_GAP;
            }
        };
    }

    /** Returns the unique term of the entry of a pURI. */
    static Term key(EntryKind kind, Puri puri) {
        return new Term(KEY, letter(kind) + puri.toString());
    }

    /** Returns the value of {@link #STATE} for entries of a kind with a status. */
    static BytesRef state(EntryKind kind, Row.Status status) {
        return new BytesRef(letter(kind) + status.name());
    }

    /** Returns the term of the identity with a handle. */
    static Term handle(Handle handle) {
        return new Term(HANDLE, handle.text());
    }

    private static String letter(EntryKind kind) {
        return switch (kind) {
            case IDENTITY -> "i";
            case DOCUMENT -> "d";
        };
    }

    /** Returns the value of {@link #PARTITION}. */
    static long partition(EntryKind kind, int partition) {
        return (long) partition * KINDS.length + kind.ordinal();
    }

    /** Returns the kind of a value of {@link #PARTITION}. */
    static EntryKind kindOf(long partition) {
        return KINDS[(int) (partition % KINDS.length)];
    }

    /** Returns the number of the partition of a value of {@link #PARTITION}. */
    static int numberOf(long partition) {
        return (int) (partition / KINDS.length);
    }

    /** Returns the name of the field with the words of all attributes that have a weight. */
    static String wordsField(int weight) {
        return WORDS_PREFIX + weight;
    }

    /** Returns the term of identities with an identifier. */
    static Term identifier(String identifier) {
        return new Term(IDENTIFIER, identifier);
    }

    /** Returns the value of {@link #UUID_HIGH}. */
    static long high(UUID uuid) {
        return uuid.getMostSignificantBits() ^ Long.MIN_VALUE;
    }

    /** Returns the value of {@link #UUID_LOW}. */
    static long low(UUID uuid) {
        return uuid.getLeastSignificantBits() ^ Long.MIN_VALUE;
    }

    /**
     * Returns the Lucene document of an entry.
     *
     * @param key the result of {@link #key}
     * @param partition the partition of the entry's record
     * @param searchedAttributes the attribute weights that the document's collection declares
     */
    static Document of(Term key, int partition, Puri puri, Entry entry, SearchedAttributes searchedAttributes) {
        EntryKind kind = EntryKind.of(entry);
        Document fields = new Document();
        BytesRef collection = new BytesRef(puri.qualifiedCollection());
        BytesRef shard = new BytesRef(entry.shard().text());
        fields.add(new StringField(KEY, key.bytes(), Field.Store.NO));
        fields.add(new StringField(STATE, state(kind, entry.status()), Field.Store.NO));
        fields.add(new StringField(NAMESPACE, puri.namespace(), Field.Store.NO));
        fields.add(new StringField(COLLECTION, collection, Field.Store.NO));
        fields.add(new SortedDocValuesField(COLLECTION, collection));
        fields.add(new StringField(SHARD, shard, Field.Store.NO));
        fields.add(new SortedDocValuesField(SHARD, shard));
        fields.add(new StringField(OWNER, entry.owner().text(), Field.Store.NO));
        fields.add(new NumericDocValuesField(HASH, RowHash.of(puri, entry)));
        fields.add(new NumericDocValuesField(PARTITION, partition(kind, partition)));
        switch (entry) {
            case Row row -> {
                addTie(key, IndexedText.MAX_LENGTH, fields);
                addStored(new StoredEntry(puri, entry, null), fields);
                addRow(puri, row, fields);
            }
            case dev.puri.schemas.log.Document document -> {
                IndexedText text = IndexedText.of(document.attributes(), searchedAttributes);
                addTie(key, text.length(), fields);
                addStored(new StoredEntry(puri, entry, text.titleName()), fields);
                addText(text, fields);
            }
        }
        return fields;
    }

    private static void addTie(Term key, int length, Document fields) {
        long hash = StringHelper.murmurhash3_x64_128(key.bytes())[0];
        fields.add(new NumericDocValuesField(TIE, (long) length << TIE_LENGTH_SHIFT | hash >>> Byte.SIZE));
    }

    private static void addStored(StoredEntry entry, Document fields) {
        fields.add(new StoredField(ENTRY, entry.toBytes()));
    }

    private static void addRow(Puri puri, Row row, Document fields) {
        fields.add(new StringField(IDENTIFIER, puri.identifier(), Field.Store.NO));
        fields.add(new LongPoint(UUID_HIGH, high(row.uuid())));
        fields.add(new NumericDocValuesField(UUID_HIGH, high(row.uuid())));
        fields.add(new NumericDocValuesField(UUID_LOW, low(row.uuid())));
        if (row.handle() != null) {
            fields.add(new StringField(HANDLE, row.handle().text(), Field.Store.NO));
        }
    }

    private static void addText(IndexedText text, Document fields) {
        for (IndexedText.Attribute attribute : text.attributes()) {
            if (!attribute.words().isEmpty()) {
                fields.add(new Field(wordsField(attribute.weight()), new WordStream(attribute.words()), WORDS_TYPE));
            }
        }
        for (String keyword : text.keywords()) {
            fields.add(new StringField(IndexedText.KEYWORDS_FIELD, keyword, Field.Store.NO));
        }
        if (text.titleKeyword() != null) {
            fields.add(new StringField(IndexedText.TITLE_KEYWORD_FIELD, text.titleKeyword(), Field.Store.NO));
        }
        for (String symbolWord : text.symbolWords()) {
            fields.add(new StringField(IndexedText.SYMBOL_WORDS_FIELD, symbolWord, Field.Store.NO));
        }
    }

    /** A token stream of words that are already analyzed, so that Lucene does not analyze the text again. */
    private static final class WordStream extends TokenStream {
        private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
        private final List<TextAnalysis.Word> words;
        private int next;

        private WordStream(List<TextAnalysis.Word> words) {
            this.words = words;
        }

        @Override
        public boolean incrementToken() {
            if (next == words.size()) {
                return false;
            }
            clearAttributes();
            term.append(words.get(next++).text());
            return true;
        }

        @Override
        public void reset() {
            next = 0;
        }
    }
}
