package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class RejectionFilterOptionsTest {
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

    @Test
    void noOptionIsTheEmptyFilter() {
        assertThat(parse()).isEqualTo(RejectionFilter.NONE);
        assertThat(parse().isEmpty()).isTrue();
    }

    @Test
    void parsesEachOption() {
        RejectionFilter filter = parse(
                "--reason",
                "not_allowed",
                "--reason",
                "PURI_TAKEN",
                "--puri",
                "Music:Tracks:1",
                "--position",
                "3-1042",
                "--position",
                "music-0-7",
                "--since",
                "2h",
                "--until",
                "2026-03-01T09:30:00Z");
        assertThat(filter)
                .isEqualTo(new RejectionFilter(
                        Set.of(Reason.NOT_ALLOWED, Reason.PURI_TAKEN),
                        Set.of(new Position(Topics.EVENTS, 3, 1042), new Position(Topics.eventsTopicOf("music"), 0, 7)),
                        Puri.parse("music:tracks:1"),
                        Instant.parse("2026-03-01T08:00:00Z"),
                        Instant.parse("2026-03-01T09:30:00Z")));
        assertThat(filter.isEmpty()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--reason=NOT_ALOWED | --reason: \"NOT_ALOWED\" is not a reason; the reasons are [UNDECODABLE, MALFORMED,",
                "--reason=           | --reason: \"\" is not a reason",
                "--puri=             | --puri: ",
                "--puri=music:1      | --puri: ",
                "--position=         | --position: not a token of a published event: \"\"",
                "--position=3        | --position: not a token of a published event: \"3\"",
                "--since=            | --since: \"\" is neither an instant",
                "--since=yesterday   | --since: \"yesterday\" is neither an instant such as 2026-03-01T10:00:00Z nor",
                "--since=2026-03-01  | --since: \"2026-03-01\" is neither an instant",
                "--until=-2h         | --until: \"-2h\" is neither an instant",
                "--until=PT-2H       | --until: \"PT-2H\" is neither an instant",
                "--since=99999999999999d | --since: \"99999999999999d\" is neither an instant",
            })
    void anInvalidOptionIsNamedWithTheRule(String option, String message) {
        assertThatThrownBy(() -> parse(option))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void allMistakesAreReportedTogether() {
        assertThatThrownBy(() -> parse("--reason=x", "--puri=y", "--since=z"))
                .hasMessageContainingAll("--reason: ", "--puri: ", "--since: ");
    }

    @Test
    void thePeriodMustNotBeEmpty() {
        assertThatThrownBy(() -> parse("--since=1h", "--until=2h"))
                .hasMessage("--until: 2026-03-01T08:00:00Z must be after --since, 2026-03-01T09:00:00Z");
        assertThatThrownBy(() -> parse("--since=1h", "--until=1h")).isInstanceOf(CommandException.class);
    }

    @Test
    void aRejectionMustMeetEveryCondition() {
        Rejection rejection = new Rejection(
                "NOT_ALLOWED",
                "",
                new EventPosition(Topics.EVENTS, 3, 1042L),
                NOW,
                "music:tracks:1",
                null,
                null,
                null,
                null,
                ByteBuffer.allocate(32),
                3L,
                ByteBuffer.allocate(3));
        String[] matching = {
            "--reason=NOT_ALLOWED",
            "--reason=MALFORMED",
            "--puri=music:tracks:1",
            "--position=3-1042",
            "--since=2026-03-01T10:00:00Z",
            "--until=2026-03-01T10:00:00.001Z"
        };
        assertThat(parse(matching).matches(rejection)).isTrue();
        assertThat(parse("--reason=MALFORMED").matches(rejection)).isFalse();
        assertThat(parse("--puri=music:tracks:2").matches(rejection)).isFalse();
        assertThat(parse("--position=3-1043").matches(rejection)).isFalse();
        assertThat(parse("--position=music-3-1042").matches(rejection)).isFalse();
        assertThat(parse("--since=2026-03-01T10:00:00.001Z").matches(rejection)).isFalse();
        assertThat(parse("--until=2026-03-01T10:00:00Z").matches(rejection)).isFalse();
    }

    private static RejectionFilter parse(String... options) {
        return CommandLine.populateCommand(new RejectionFilterOptions(), options)
                .parse(NOW);
    }
}
