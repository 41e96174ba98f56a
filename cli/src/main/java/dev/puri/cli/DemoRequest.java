package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request of the demo with its expected response.
 *
 * @param why a sentence for the user
 * @param path relative to the server's base URL
 * @param body null for a GET request
 * @param status expected status
 * @param expected expected texts of the response by JSON pointer (RFC 6901)
 */
record DemoRequest(String why, String path, @Nullable String body, int status, Map<String, String> expected) {
    static DemoRequest get(String why, String ref, int status, String... pointersAndTexts) {
        return new DemoRequest(why, "/v1/identities/" + ref, null, status, pairs(pointersAndTexts));
    }

    static DemoRequest resolve(String why, List<String> refs, String... pointersAndTexts) {
        String body = Json.print(Json.object("refs", refs, "groupBy", "shard"));
        return new DemoRequest(why, "/v1/resolve", body, 200, pairs(pointersAndTexts));
    }

    /**
     * Creates a search request.
     *
     * @param query URL-encoded
     */
    static DemoRequest search(String why, String query, String... pointersAndTexts) {
        return new DemoRequest(why, "/v1/search?" + query, null, 200, pairs(pointersAndTexts));
    }

    private static Map<String, String> pairs(String... pointersAndTexts) {
        Map<String, String> expected = new LinkedHashMap<>();
        for (int i = 0; i < pointersAndTexts.length; i += 2) {
            expected.put(pointersAndTexts[i], pointersAndTexts[i + 1]);
        }
        return expected;
    }

    /** Returns the equivalent curl command; assumes that path and body contain no single quote. */
    String curl(String base) {
        return body == null ? "curl -s '" + base + path + "'" : "curl -s '" + base + path + "' -d '" + body + "'";
    }

    /** Returns a sentence for each difference from the expected response. */
    List<String> differences(int actualStatus, JsonNode response) {
        List<String> differences = new ArrayList<>();
        if (actualStatus != status) {
            differences.add("status " + status + " was expected, not " + actualStatus);
        }
        expected.forEach((pointer, text) -> {
            JsonNode at = response.at(pointer);
            String actual = at.isValueNode() ? at.asText() : at.toString();
            if (!actual.equals(text)) {
                differences.add(
                        pointer + " was expected to be " + text + ", not " + (at.isMissingNode() ? "absent" : actual));
            }
        });
        return differences;
    }
}
