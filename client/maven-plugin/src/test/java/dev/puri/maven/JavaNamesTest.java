package dev.puri.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.SourceVersion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JavaNamesTest {
    @ParameterizedTest
    @CsvSource({
        "tracks, TRACKS, Tracks",
        "revenue-bills, REVENUE_BILLS, RevenueBills",
        "sound.cloud, SOUND_CLOUD, SoundCloud",
        "class, CLASS, Class",
        "2020-bills, _2020_BILLS, _2020Bills",
        "-a--b-, A_B, AB",
        "_, _5F, _5F",
        "%25, _25, _25",
        "%E6%97%A5, _E6_97_A5, _E6_97_A5",
        "caf%C3%A9, CAF, Caf",
    })
    void aNameIsOfItsWords(String segment, String constant, String className) {
        assertThat(JavaNames.ofConstants(List.of(segment))).isEqualTo(Map.of(segment, constant));
        assertThat(JavaNames.ofClasses(List.of(segment))).isEqualTo(Map.of(segment, className));
        assertThat(SourceVersion.isName(constant)).isTrue();
        assertThat(SourceVersion.isName(className)).isTrue();
    }

    @Test
    void segmentsWhoseNamesWouldBeEqualGetExactOnesInAnyOrder() {
        Map<String, String> names = Map.of("a-b", "A_2DB", "a.b", "A_2EB", "c", "C");
        assertThat(JavaNames.ofConstants(List.of("a-b", "c", "a.b"))).isEqualTo(names);
        assertThat(JavaNames.ofConstants(List.of("a.b", "a-b", "c"))).isEqualTo(names);
    }

    @Test
    void classesDifferInMoreThanCase() {
        assertThat(JavaNames.ofClasses(Set.of("soundcloud", "sound-cloud")))
                .isEqualTo(Map.of("soundcloud", "SOUNDCLOUD", "sound-cloud", "SOUND_2DCLOUD"));
    }

    @Test
    void segmentsWithTheSameExactNameAreRefused() {
        assertThatThrownBy(() -> JavaNames.ofConstants(List.of("a-b", "a.b", "a-2db")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a-2db and a-b would both have the name A_2DB in Java; rename one of them");
    }
}
