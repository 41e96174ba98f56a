package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A question to a server and what must come of it.
 *
 * @param why for people
 * @param path below the server's base
 * @param body null asks with GET
 * @param status expected
 * @param expected texts expected in the answer, by JSON pointer (RFC 6901)
 */
record Question(String why, String path, @Nullable String body, int status, Map<String, String> expected) {
    static Question get(String why, String ref, int status, String... pointersAndTexts) {
        return new Question(why, "/v1/identities/" + ref, null, status, pairs(pointersAndTexts));
    }

    static Question resolve(String why, List<String> refs, String... pointersAndTexts) {
        String body = Json.print(Json.object("refs", refs, "groupBy", "shard"));
        return new Question(why, "/v1/resolve", body, 200, pairs(pointersAndTexts));
    }

    /**
     * @param query as it stands in an address
     */
    static Question search(String why, String query, String... pointersAndTexts) {
        return new Question(why, "/v1/search?" + query, null, 200, pairs(pointersAndTexts));
    }

    private static Map<String, String> pairs(String... pointersAndTexts) {
        Map<String, String> expected = new LinkedHashMap<>();
        for (int i = 0; i < pointersAndTexts.length; i += 2) {
            expected.put(pointersAndTexts[i], pointersAndTexts[i + 1]);
        }
        return expected;
    }

    /** The command that asks it; its parts hold no single quote. */
    String curl(String base) {
        return body == null ? "curl -s '" + base + path + "'" : "curl -s '" + base + path + "' -d '" + body + "'";
    }

    /** What the answer is not as it must be, a sentence each. */
    List<String> differences(int actualStatus, JsonNode answer) {
        List<String> differences = new ArrayList<>();
        if (actualStatus != status) {
            differences.add("status " + status + " was expected, not " + actualStatus);
        }
        expected.forEach((pointer, text) -> {
            JsonNode at = answer.at(pointer);
            String actual = at.isValueNode() ? at.asText() : at.toString();
            if (!actual.equals(text)) {
                differences.add(
                        pointer + " was expected to be " + text + ", not " + (at.isMissingNode() ? "absent" : actual));
            }
        });
        return differences;
    }
}
