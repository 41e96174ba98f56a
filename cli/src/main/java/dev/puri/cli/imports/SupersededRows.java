package dev.puri.cli.imports;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.recovery.ExportFile;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the rows of an export that another row of the same pURI replaces. A pURI that changes while the export is made
 * may be in it twice, with its old and its new state.
 *
 * <p>Almost all exports have no such pURI. To find this out, the first reading keeps a 64-bit hash of the pURI of each
 * row in memory. Only an export with two equal hashes is read again.
 */
final class SupersededRows {
    private SupersededRows() {}

    /**
     * The state that a row of an export has.
     *
     * @param number number of the row, from 1
     * @param position position of the last event that was decided for the pURI; null if the row has none
     * @param changedAt null if the row has none
     */
    private record State(
            long number,
            @Nullable Position position,
            @Nullable Instant changedAt) {
        static State of(long number, JsonNode row) {
            return new State(
                    number,
                    parseOrNull(row.path("position").asText(), Position::parse),
                    parseOrNull(row.path("changedAt").asText(), Instant::parse));
        }

        private static <T> @Nullable T parseOrNull(String text, Function<String, T> parse) {
            try {
                return parse.apply(text);
            } catch (IllegalArgumentException | DateTimeException e) {
                return null;
            }
        }

        /** Returns whether this state is older than that of another row. */
        boolean isOlderThan(State other) {
            if (position != null
                    && other.position != null
                    && position.topic().equals(other.position.topic())
                    && position.partition() == other.position.partition()) {
                return position.offset() < other.position.offset();
            }
            // Positions in different topics have no order, so the times decide. The topics differ if the namespace got
            // its own topic between the two events.
            return changedAt != null && other.changedAt != null && changedAt.isBefore(other.changedAt);
        }
    }

    /**
     * Returns the numbers of the replaced rows; the first row has number 1.
     *
     * @throws IOException if the file cannot be read, or is not a complete export
     */
    static Set<Long> of(Path file) throws IOException {
        long[] repeated = repeatedHashes(file);
        Set<Long> superseded = new HashSet<>();
        if (repeated.length == 0) {
            return superseded;
        }
        Map<String, State> latest = new HashMap<>();
        try (ExportFile export = ExportFile.open(file)) {
            long number = 0;
            for (JsonNode row = export.next(); row != null; row = export.next()) {
                number++;
                String puri = row.path("puri").asText();
                if (Arrays.binarySearch(repeated, hash(puri)) < 0) {
                    continue;
                }
                State state = State.of(number, row);
                State earlier = latest.get(puri);
                if (earlier != null && state.isOlderThan(earlier)) {
                    superseded.add(number);
                    continue;
                }
                if (earlier != null) {
                    superseded.add(earlier.number());
                }
                latest.put(puri, state);
            }
        }
        return superseded;
    }

    /** Returns the hashes that several rows have, in ascending order. */
    private static long[] repeatedHashes(Path file) throws IOException {
        long[] hashes;
        try (ExportFile export = ExportFile.open(file)) {
            hashes = new long[Math.toIntExact(export.rows())];
            for (int i = 0; i < hashes.length; i++) {
                JsonNode row = export.next();
                hashes[i] = row == null ? 0 : hash(row.path("puri").asText());
            }
        }
        Arrays.sort(hashes);
        int count = 0;
        for (int i = 1; i < hashes.length; i++) {
            if (hashes[i] == hashes[i - 1]) {
                hashes[count++] = hashes[i];
            }
        }
        return Arrays.copyOf(hashes, count);
    }

    private static long hash(String puri) {
        return NameBasedIds.Version.V8.hash(puri).getLong();
    }
}
