package dev.puri.benchmarks;

import dev.puri.http.Timestamp;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What resolvers and their kin are asked, of a population of so many rows; the same for all sides. */
final class Questions {
    static final int BATCH = 100;

    /** Of each batch: names, then handles, and among the former and the latter some that nobody has. */
    private static final int PURIS = 60;

    private static final int UNKNOWN_PURIS = 3;
    private static final int UNKNOWN_HANDLES = 2;

    private final int rows;
    private final Random random;

    Questions(int rows) {
        this.rows = rows;
        this.random = new Random(rows);
    }

    static String path(String ref) {
        return "/v1/identities/" + ref;
    }

    /** Names that are there. */
    List<String> names(int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(Population.puri(random.nextInt(rows)).toString());
        }
        return names;
    }

    /** The body of a batch of mixed references, shuffled. */
    String batch() {
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

    List<String> batches(int count) {
        List<String> batches = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            batches.add(batch());
        }
        return batches;
    }

    /** An identity as JSON, without what was asked and the verdict. */
    static String json(int number) {
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

    /** The body of our answer to the question for its name. */
    static String answer(int number) {
        return "{\"ref\":\"" + Population.puri(number) + "\",\"verdict\":\"found\","
                + json(number).substring(1) + "\n";
    }
}
