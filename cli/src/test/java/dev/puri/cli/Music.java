package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

/** Identities in every state, for the drills. */
final class Music {
    static final String COLLECTIONS = """
            namespaces:
              music: {}
            collections:
              - {name: music:tracks, prefix: trk, search: true}
            """;
    static final String HANDLE = "trk_111111111111111";
    static final String TRACK = "music:tracks:1";
    static final String MERGED = "music:tracks:2";
    static final String DELETED = "music:tracks:3";
    static final String ERASED = "music:tracks:4";
    static final String USER = "music:users:7";

    private Music() {}

    /** Publishes the identities. The track was moved, so its epoch is 2. */
    static void publish(DrillStack stack) {
        stack.apply(COLLECTIONS);
        CommandLineRun run = stack.publish(
                created(TRACK, ",\"handle\":\"" + HANDLE + "\",\"attributes\":{\"title\":\"Salt Harbour\"}"),
                "{\"type\":\"moved\",\"puri\":\"" + TRACK + "\",\"shard\":\"eu-1\"}",
                created(MERGED, ""),
                "{\"type\":\"merged\",\"puri\":\"" + MERGED + "\",\"into\":\"" + TRACK + "\"}",
                created(DELETED, ",\"handle\":\"trk_333333333333333\""),
                "{\"type\":\"deleted\",\"puri\":\"" + DELETED + "\"}",
                created(ERASED, ",\"handle\":\"trk_444444444444444\",\"attributes\":{\"title\":\"Gone\"}"),
                "{\"type\":\"erased\",\"puri\":\"" + ERASED + "\"}",
                created(USER, ""));
        DrillStack.assertDone(run);
        assertKept(stack);
        assertThat(stack.resolve(TRACK).path("epoch").asInt()).isEqualTo(2);
    }

    static String created(String puri, String more) {
        return "{\"type\":\"created\",\"puri\":\"" + puri + "\",\"owner\":\"catalog\",\"shard\":\"br-1\"" + more + "}";
    }

    /** Checks placement, handles and status of all identities. */
    static void assertKept(DrillStack stack) {
        JsonNode track = stack.awaitVerdict(TRACK, "found");
        assertThat(track.path("shard").asText()).isEqualTo("eu-1");
        assertThat(track.path("handle").asText()).isEqualTo(HANDLE);
        assertThat(stack.awaitVerdict(HANDLE, "found").path("puri").asText()).isEqualTo(TRACK);
        assertThat(stack.awaitVerdict(MERGED, "merged").path("canonical").asText())
                .isEqualTo(TRACK);
        stack.awaitVerdict(DELETED, "deleted");
        stack.awaitVerdict(USER, "found");
        stack.awaitVerdict(ERASED, "unknown");
    }

    /** Checks that names and handles are not given away again. */
    static void assertFirstClaimsWin(DrillStack stack) {
        CommandLineRun run = stack.publish(
                created(TRACK, ""),
                created(USER, ""),
                created("music:tracks:thief", ",\"handle\":\"" + HANDLE + "\""),
                created("music:tracks:thief", ",\"handle\":\"trk_333333333333333\""));
        assertThat(run.errLines().stream().filter(line -> line.contains("PURI_TAKEN")))
                .as(run.err())
                .hasSize(2);
        assertThat(run.errLines().stream().filter(line -> line.contains("HANDLE_TAKEN")))
                .as(run.err())
                .hasSize(2);
    }
}
