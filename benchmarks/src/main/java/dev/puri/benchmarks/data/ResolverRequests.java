package dev.puri.benchmarks.data;

import dev.puri.http.Timestamp;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Requests to a resolver of a population, or to a baseline; the same for all sides. */
public final class ResolverRequests {
    /** References of a batch. */
    public static final int BATCH = 100;

    /** Of each batch the pURIs; the others are handles. */
    private static final int PURIS = 60;

    private static final int UNKNOWN_PURIS = 3;
    private static final int UNKNOWN_HANDLES = 2;

    private final int rows;
    private final Random random;

    /** Draws references to the first rows. */
    public ResolverRequests(int rows) {
        this.rows = rows;
        this.random = new Random(rows);
    }

    /** Returns the path of an identity. */
    public static String path(String ref) {
        return "/v1/identities/" + ref;
    }

    /** Returns names of rows. */
    public List<String> names(int count) {
        return Stream.generate(() -> Population.puri(random.nextInt(rows)).toString())
                .limit(count)
                .toList();
    }

    /** Returns the body of a batch of mixed references, shuffled; some of them are unknown. */
    public String batch() {
        List<String> refs = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            int number = random.nextInt(rows);
            boolean isUnknown = i < UNKNOWN_PURIS || i >= BATCH - UNKNOWN_HANDLES;
            long asked = isUnknown ? Population.missing(number) : number;
            refs.add(
                    i < PURIS
                            ? Population.puri(asked).toString()
                            : Population.handle(asked).text());
        }
        Collections.shuffle(refs, random);
        return "{\"refs\":[\"" + String.join("\",\"", refs) + "\"]}";
    }

    /** Returns bodies of batches. */
    public List<String> batches(int count) {
        return Stream.generate(this::batch).limit(count).toList();
    }

    /** Returns an identity as JSON, without reference and verdict. */
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

    /** Returns the body of our answer to a GET of its name. */
    public static String answer(int number) {
        return "{\"ref\":\"" + Population.puri(number) + "\",\"verdict\":\"found\","
                + json(number).substring(1) + "\n";
    }
}
