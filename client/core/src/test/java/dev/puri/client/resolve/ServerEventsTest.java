package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.resolve.ServerEvents.Event;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServerEventsTest {
    private static final String TEXT = "\ufeff:\n\nid: 1\nevent: changed\ndata: {\"a\":\ndata: \"é\"}\n\n"
            + ": a comment\nid:2\n\nevent: nothing\n\nretry: 1500\r\ndata\r\n\r\nretry: soon\rid: 3\revent:bye\rdata: x\r\r";
    private static final List<Event> EVENTS = List.of(
            new Event("1", "changed", "{\"a\":\n\"é\"}"),
            new Event("2", "", ""),
            new Event(null, "", ""),
            new Event("3", "bye", "x"));

    @Test
    void eventsAreTheSameForAnySplitOfTheInput() {
        byte[] bytes = TEXT.getBytes(StandardCharsets.UTF_8);
        for (int size = 1; size <= bytes.length; size++) {
            List<Event> events = new ArrayList<>();
            ServerEvents reader = new ServerEvents(events::add);
            for (int from = 0; from < bytes.length; from += size) {
                reader.parse(ByteBuffer.wrap(bytes, from, Math.min(size, bytes.length - from)));
            }
            assertThat(events).as("in pieces of " + size).isEqualTo(EVENTS);
            assertThat(reader.retry()).isEqualTo(Duration.ofMillis(1500));
        }
    }

    @Test
    void anIncompleteEventIsNotReported() {
        List<Event> events = new ArrayList<>();
        new ServerEvents(events::add).parse(ByteBuffer.wrap("id: 1\ndata: x\n".getBytes(StandardCharsets.UTF_8)));
        assertThat(events).isEmpty();
    }

    @Test
    void anEndlessEventIsRefused() {
        ServerEvents reader = new ServerEvents(event -> {});
        byte[] line = "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> {
                    for (int i = 0; i <= ServerEvents.MAX_EVENT_BYTES; i += line.length - 1) {
                        reader.parse(ByteBuffer.wrap(line));
                    }
                    reader.parse(ByteBuffer.wrap(line));
                })
                .isInstanceOf(IllegalArgumentException.class);
    }
}
