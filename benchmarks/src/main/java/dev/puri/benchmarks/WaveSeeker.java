package dev.puri.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Searches for identities until each was found, by a word that those of a wave have in common: one search for each
 * wave that is not found as a whole, every {@link #STEP}. To search for each identity by itself would be the load
 * that is measured.
 */
final class WaveSeeker implements AutoCloseable {
    /** What an identity is found late by, and the answers of other waves. */
    private static final Duration STEP = Duration.ofMillis(10);

    private static final int WAVE = 50;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final HttpSocket indexer;
    private final int mostOpen;
    private final Thread thread = Thread.ofPlatform().name("seeker").unstarted(this::run);
    private final Queue<Sought> arriving = new ConcurrentLinkedQueue<>();
    private final Sightings sightings = new Sightings();

    /** By the wave's word those that are not found yet, by pURI. */
    private final Map<String, Map<String, Sought>> open = new TreeMap<>();

    private long questions;
    private volatile boolean closed;

    private static final class Sought {
        private final String puri;
        private final String word;
        private final long since;
        private final boolean counts;
        private long missingAt;

        private Sought(String puri, String word, long since, boolean counts) {
            this.puri = puri;
            this.word = word;
            this.since = since;
            this.counts = counts;
            this.missingAt = since;
        }
    }

    /**
     * @param mostOpen how many may be sought at a time; more mean that the registry cannot keep up
     */
    WaveSeeker(int port, int mostOpen) throws IOException {
        this.indexer = new HttpSocket(port);
        this.mostOpen = mostOpen;
        thread.start();
    }

    /** What the title of an identity has to contain to be found. */
    static String word(long number) {
        return "wave" + number / WAVE;
    }

    /**
     * Seeks an identity. From any thread.
     *
     * @param number of it, by which it has its word
     * @param since the nano time from which its wait counts
     * @param counts false for one that only warms up
     */
    void seek(Puri puri, long number, long since, boolean counts) {
        arriving.add(new Sought(puri.toString(), word(number), since, counts));
    }

    /** Gives up, because one can never be found. */
    void fail(Throwable why) {
        sightings.fail(why);
    }

    /**
     * Waits until that many have been found.
     *
     * @throws IllegalStateException when they are not
     */
    Sightings.Found awaitAll(long count) throws Exception {
        sightings.await(count);
        close();
        return sightings.found(questions);
    }

    private void run() {
        try {
            for (long next = System.nanoTime(); !closed; next += STEP.toNanos()) {
                LockSupport.parkNanos(next - System.nanoTime());
                for (Sought sought = arriving.poll(); sought != null; sought = arriving.poll()) {
                    open.computeIfAbsent(sought.word, word -> new HashMap<>()).put(sought.puri, sought);
                }
                if (open.values().stream().mapToInt(Map::size).sum() > mostOpen) {
                    throw new IllegalStateException("more than " + mostOpen + " identities are not to be found");
                }
                askAll();
                next = Math.max(next, System.nanoTime() - STEP.toNanos());
            }
        } catch (IOException | RuntimeException e) {
            fail(e);
        }
    }

    private void askAll() throws IOException {
        for (Iterator<Map.Entry<String, Map<String, Sought>>> waves =
                        open.entrySet().iterator();
                waves.hasNext(); ) {
            Map.Entry<String, Map<String, Sought>> wave = waves.next();
            ask(wave.getKey(), wave.getValue());
            if (wave.getValue().isEmpty()) {
                // Whoever comes later to this wave opens it again.
                waves.remove();
            }
        }
    }

    private void ask(String word, Map<String, Sought> missing) throws IOException {
        long asked = System.nanoTime();
        questions++;
        HttpSocket.Answer answer = indexer.ask(
                HttpSocket.get("/v1/search?q=" + word + "%20&limit=" + WAVE + "&facets=false&highlight=false"));
        if (answer.status() != 200) {
            throw new IllegalStateException(word + " was answered with " + answer.head() + answer.text());
        }
        for (JsonNode result : MAPPER.readTree(answer.body()).get("results")) {
            Sought found = missing.remove(result.get("puri").textValue());
            if (found != null) {
                sightings.saw(found.since, found.missingAt, found.counts);
            }
        }
        missing.values().forEach(sought -> sought.missingAt = asked);
    }

    @Override
    public void close() throws IOException {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        indexer.close();
    }
}
