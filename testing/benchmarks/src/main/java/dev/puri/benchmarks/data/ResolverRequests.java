package dev.puri.benchmarks.data;

import dev.puri.http.Timestamp;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Random requests for rows of the {@link Population}. The resolver and its baselines get the same requests. */
public final class ResolverRequests {
    /** Number of references in a batch. */
    public static final int BATCH = 100;

    /** Number of pURIs in a batch; the other references are handles. */
    private static final int PURIS = 60;

    private static final int UNKNOWN_PURIS = 3;
    private static final int UNKNOWN_HANDLES = 2;

    private final int rows;
    private final Random random;

    /** Creates requests for the first rows of the population. */
    public ResolverRequests(int rows) {
        this.rows = rows;
        this.random = new Random(rows);
    }

    /** Returns the path of an identity. */
    public static String path(String ref) {
        return "/v1/identities/" + ref;
    }

    /** Returns the pURIs of random rows. */
    public List<String> names(int count) {
        return Stream.generate(() -> Population.puri(random.nextInt(rows)).toString())
                .limit(count)
                .toList();
    }

    /** Returns the body of a batch with pURIs and handles in random order; some of them are unknown. */
    public String batch() {
        List<String> refs = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            int number = random.nextInt(rows);
            boolean isUnknown = i < UNKNOWN_PURIS || i >= BATCH - UNKNOWN_HANDLES;
            long refNumber = isUnknown ? Population.missing(number) : number;
            refs.add(
                    i < PURIS
                            ? Population.puri(refNumber).toString()
                            : Population.handle(refNumber).text());
        }
        Collections.shuffle(refs, random);
        return "{\"refs\":[\"" + String.join("\",\"", refs) + "\"]}";
    }

    /** Returns the bodies of batches. */
    public List<String> batches(int count) {
        return Stream.generate(this::batch).limit(count).toList();
    }

    /** Returns the JSON of an identity in an answer, without the fields {@code ref} and {@code verdict}. */
    public static String json(int number) {
        Row row = Population.row(number, 0);
        return "{\"puri\":\"" + Population.puri(number)
                + "\",\"handle\":\"" + Population.handle(number).text()
                + "\",\"owner\":\"" + row.owner().text()
                + "\",\"shard\":\"" + row.shard().text()
                + "\",\"uuid\":\"" + row.uuid()
                + "\",\"status\":\"active\",\"epoch\":" + row.epoch()
                + ",\"createdAt\":\"" + Timestamp.text(row.createdAt())
                + "\",\"changedAt\":\"" + Timestamp.text(row.changedAt()) + "\"}";
    }

    /** Returns the body of the resolver's answer to a GET by pURI. */
    public static String answer(int number) {
        return "{\"ref\":\"" + Population.puri(number) + "\",\"verdict\":\"found\","
                + json(number).substring(1) + "\n";
    }
}
