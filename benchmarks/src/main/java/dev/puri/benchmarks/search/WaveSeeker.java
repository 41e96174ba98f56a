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
 * Seeks identities by a word that those of a wave have in common: one search for each wave that was not found as a
 * whole. Searches for each identity by itself would be the load that is measured.
 */
final class WaveSeeker {
    /** An identity is found this much late at most, and by the answers of other waves. */
    private static final Duration STEP = Duration.ofMillis(10);

    private static final int WAVE = 50;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private WaveSeeker() {}

    static Seeker start(int port, int mostOpen) throws IOException {
        return new Seeker(port, STEP, mostOpen, WaveSeeker::ask);
    }

    /** Returns the word that the title of an identity has to contain. */
    static String word(long number) {
        return "wave" + number / WAVE;
    }

    private static int ask(HttpSocket indexer, List<Seeker.Sought> open) throws IOException {
        Map<String, Map<String, Seeker.Sought>> waves = new TreeMap<>();
        for (Seeker.Sought sought : open) {
            waves.computeIfAbsent(sought.query(), word -> new HashMap<>())
                    .put(sought.puri().toString(), sought);
        }
        for (Map.Entry<String, Map<String, Seeker.Sought>> wave : waves.entrySet()) {
            ask(indexer, wave.getKey(), wave.getValue());
        }
        return waves.size();
    }

    private static void ask(HttpSocket indexer, String word, Map<String, Seeker.Sought> missing) throws IOException {
        long asked = System.nanoTime();
        String path = "/v1/search?q=" + word + "%20&limit=" + WAVE + "&facets=false&highlight=false";
        HttpSocket.Answer answer = indexer.ask(HttpSocket.get(path), 200);
        for (JsonNode result : MAPPER.readTree(answer.body()).get("results")) {
            Seeker.Sought found = missing.remove(result.get("puri").textValue());
            if (found != null) {
                found.answered(true, asked);
            }
        }
        missing.values().forEach(sought -> sought.answered(false, asked));
    }
}
