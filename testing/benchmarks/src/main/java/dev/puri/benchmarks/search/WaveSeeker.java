package dev.puri.benchmarks.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.load.HttpSocket;
import dev.puri.benchmarks.load.Seeker;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A {@link Seeker} of a search indexer. The titles of 50 consecutive identities, a wave, have a common word. The seeker
 * sends one search for each wave with a missing identity. One search for each identity would be too much load.
 */
final class WaveSeeker {
    /** Interval, and about the maximum delay before it is noticed that an identity is there. */
    private static final Duration INTERVAL = Duration.ofMillis(10);

    private static final int WAVE_SIZE = 50;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private WaveSeeker() {}

    static Seeker start(int port, int maxTargets) throws IOException {
        return new Seeker(port, INTERVAL, maxTargets, WaveSeeker::poll);
    }

    /** Returns the word that the title of the identity with this number must contain. */
    static String word(long number) {
        return "wave" + number / WAVE_SIZE;
    }

    private static int poll(HttpSocket indexer, List<Seeker.Target> targets) throws IOException {
        Map<String, Map<String, Seeker.Target>> waves = new TreeMap<>();
        for (Seeker.Target target : targets) {
            waves.computeIfAbsent(target.query(), word -> new HashMap<>())
                    .put(target.puri().toString(), target);
        }
        for (Map.Entry<String, Map<String, Seeker.Target>> wave : waves.entrySet()) {
            search(indexer, wave.getKey(), wave.getValue());
        }
        return waves.size();
    }

    private static void search(HttpSocket indexer, String word, Map<String, Seeker.Target> missing) throws IOException {
        long requestNanos = System.nanoTime();
        String path = "/v1/search?q=" + word + "%20&limit=" + WAVE_SIZE + "&facets=false&highlight=false";
        HttpSocket.Response answer = indexer.ask(HttpSocket.get(path), 200);
        for (JsonNode result : MAPPER.readTree(answer.body()).get("results")) {
            Seeker.Target found = missing.remove(result.get("puri").textValue());
            if (found != null) {
                found.recordAnswer(true, requestNanos);
            }
        }
        missing.values().forEach(target -> target.recordAnswer(false, requestNanos));
    }
}
