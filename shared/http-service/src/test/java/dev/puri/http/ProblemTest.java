package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ProblemTest {
    @ParameterizedTest
    @CsvSource({
        "the token 3-7 is of another object: that one, The token 3-7 is of another object: that one.",
        "music:tracks:1 is held by catalog, music:tracks:1 is held by catalog.",
        "deleted, Deleted.",
        "music:tracks:1, music:tracks:1.",
    })
    void aSentenceBeginsWithACapitalUnlessItBeginsWithAName(String text, String sentence) {
        assertThat(Problem.sentence(text)).isEqualTo(sentence);
    }
}
