package dev.puri.benchmarks.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.benchmarks.data.Vocabulary;
import dev.puri.search.words.ParsedQuery;
import java.util.List;
import org.junit.jupiter.api.Test;

class MixedQueriesTest {
    @Test
    void everyRunHasTheSameQueriesOfEveryKind() {
        List<String> queries = MixedQueries.of(100, 1000);

        assertThat(MixedQueries.of(100, 1000)).isEqualTo(queries);
        List<ParsedQuery> wanted = queries.stream().map(ParsedQuery::parse).toList();
        assertThat(wanted).noneMatch(each -> each.clauses().isEmpty());
        assertThat(wanted).anyMatch(each -> each.clauses().size() == 2);
        assertThat(wanted).anyMatch(each -> each.clauses().getFirst() instanceof ParsedQuery.PhraseClause);
        assertThat(wanted)
                .anyMatch(each -> each.clauses().getFirst() instanceof ParsedQuery.WordClause word && word.isPrefix());
    }

    @Test
    void wordsOfTheVocabularyDiffer() {
        assertThat(Vocabulary.all()).hasSize(40_000).doesNotHaveDuplicates();
    }
}
