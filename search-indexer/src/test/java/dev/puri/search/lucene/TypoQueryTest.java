package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.words.TypoPatterns;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.automaton.Automaton;
import org.apache.lucene.util.automaton.ByteRunAutomaton;
import org.apache.lucene.util.automaton.CharacterRunAutomaton;
import org.junit.jupiter.api.Test;

final class TypoQueryTest {
    private static final String[] OTHERS = {"a", "k", "z", " ", "7", "-", "é", "ß", "日", "\uD83C\uDFB5", "\uFFFF"};

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    @Test
    void theByteAutomatonAcceptsTheSameTerms() {
        int accepted = 0;
        for (String text : List.of("a", "vorbis tools", "libc6", "x11 2", "the long winter road")) {
            Automaton characters = TypoPatterns.automaton(text);
            Automaton bytes = TypoQuery.toUtf8(characters);
            assertThat(bytes).isNotNull();
            assertThat(bytes.isDeterministic()).isTrue();
            CharacterRunAutomaton expected = new CharacterRunAutomaton(characters);
            ByteRunAutomaton actual = new ByteRunAutomaton(bytes, true);
            for (int i = 0; i < 5_000; i++) {
                String candidate = edited(text, random.nextInt(3));
                byte[] utf8 = candidate.getBytes(StandardCharsets.UTF_8);
                boolean matches = expected.run(candidate);
                assertThat(actual.run(utf8, 0, utf8.length))
                        .as("seed %d: %s for %s", seed, candidate, text)
                        .isEqualTo(matches);
                accepted += matches ? 1 : 0;
            }
        }
        assertThat(accepted).isBetween(5_000, 20_000);
    }

    /** The byte automaton cannot distinguish characters beyond ASCII, so the query uses the character automaton. */
    @Test
    void findsTyposInTextsBeyondAscii() throws Exception {
        assertThat(TypoQuery.toUtf8(TypoPatterns.automaton("日本語"))).isNull();

        assertThat(found("日本語", "日本語", "日本", "日x語", "日本語版", "日xx")).containsExactly("日本語", "日本", "日x語", "日本語版");
        assertThat(found("perl", "perl", "perly", "pérl", "prel", "perl5", "ruby"))
                .containsExactly("perl", "perly", "pérl", "prel");
    }

    private static List<String> found(String text, String... titles) throws IOException {
        List<String> found = new ArrayList<>();
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig())) {
                for (String title : titles) {
                    Document document = new Document();
                    document.add(new StringField("title", title, Field.Store.YES));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (ScoreDoc each : searcher.search(new TypoQuery(new Term("title", text)), 10).scoreDocs) {
                    found.add(searcher.storedFields().document(each.doc).get("title"));
                }
            }
        }
        return found;
    }

    private String edited(String text, int edits) {
        StringBuilder edited = new StringBuilder(text);
        for (int i = 0; i < edits; i++) {
            int at = random.nextInt(edited.length() + 1);
            String other = OTHERS[random.nextInt(OTHERS.length)];
            switch (random.nextInt(3)) {
                case 0 -> edited.insert(at, other);
                case 1 -> edited.replace(at, Math.min(edited.length(), at + 1), other);
                default -> edited.delete(at, Math.min(edited.length(), at + 1));
            }
        }
        return edited.toString();
    }
}
