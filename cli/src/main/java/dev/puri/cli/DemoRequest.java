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
 * @param explanation a sentence for the user
 * @param path path and query, relative to the server's base URL
 * @param body the JSON body of a POST request; null for a GET request
 * @param status the expected status of the response
 * @param expected the expected texts in the response by JSON pointer (RFC 6901)
 */
record DemoRequest(
        String explanation, String path, @Nullable String body, int status, Map<String, String> expected) {
    static DemoRequest get(String explanation, String ref, int status) {
        return new DemoRequest(explanation, "/v1/identities/" + ref, null, status, Map.of());
    }

    static DemoRequest resolve(String explanation, List<String> refs) {
        String body = Json.toText(new JsonObject().with("refs", refs).with("groupBy", "shard"));
        return new DemoRequest(explanation, "/v1/resolve", body, 200, Map.of());
    }

    /**
     * Creates a search request.
     *
     * @param query the URL-encoded query
     */
    static DemoRequest search(String explanation, String query) {
        return new DemoRequest(explanation, "/v1/search?" + query, null, 200, Map.of());
    }

    /** Returns this request, with one more expected text in the response. */
    DemoRequest expect(String pointer, String text) {
        Map<String, String> texts = new LinkedHashMap<>(expected);
        texts.put(pointer, text);
        return new DemoRequest(explanation, path, body, status, texts);
    }

    /** Returns the equivalent curl command; assumes that path and body contain no single quote. */
    String curl(String base) {
        return body == null ? "curl -s '" + base + path + "'" : "curl -s '" + base + path + "' -d '" + body + "'";
    }

    /** Returns a sentence for each difference from the expected response. */
    List<String> differences(int actualStatus, JsonNode response) {
        List<String> differences = new ArrayList<>();
        if (actualStatus != status) {
            differences.add("expected status " + status + ", but was " + actualStatus);
        }
        expected.forEach((pointer, text) -> {
            JsonNode node = response.at(pointer);
            String actual = node.isValueNode() ? node.asText() : node.toString();
            if (!actual.equals(text)) {
                differences.add("expected " + pointer + " to be " + text + ", but was "
                        + (node.isMissingNode() ? "absent" : actual));
            }
        });
        return differences;
    }
}
