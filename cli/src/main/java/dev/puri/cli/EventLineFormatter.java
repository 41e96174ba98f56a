package dev.puri.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.util.Objects;

/**
 * Formats an event as a line that {@link EventLineParser} parses to the same event. Only the guard of a creation is
 * left out: in a line of this type the field {@code uuid} is the uuid of the new identity.
 */
final class EventLineFormatter {
    private EventLineFormatter() {}

    /** Returns the line without a line terminator. */
    static String format(Event event) {
        ObjectNode line = JsonNodeFactory.instance.objectNode();
        line.put("type", type(event.change())).put("puri", event.puri().toString());
        addChange(line, event.change());
        if (event.uuid() != null && !(event.change() instanceof Change.Created)) {
            line.put("uuid", event.uuid().toString());
        }
        if (event.expectedEpoch() != null) {
            line.put("expectedEpoch", event.expectedEpoch());
        }
        line.put("eventId", event.eventId().toString())
                .put("source", event.source())
                .put("occurredAt", event.occurredAt().toString());
        return Json.toText(line);
    }

    private static String type(Change change) {
        return switch (change) {
            case Change.Created created -> "created";
            case Change.Moved moved -> "moved";
            case Change.Described described -> "described";
            case Change.Merged merged -> "merged";
            case Change.Deleted deleted -> "deleted";
            case Change.Erased erased -> "erased";
        };
    }

    private static void addChange(ObjectNode line, Change change) {
        switch (change) {
            case Change.Created created ->
                line.put("owner", created.owner().text())
                        .put("shard", created.shard().text())
                        .put("uuid", created.uuid().toString())
                        .put("handle", Objects.toString(created.handle(), null))
                        .putPOJO("attributes", created.attributes());
            case Change.Moved moved -> {
                if (moved.owner() != null) {
                    line.put("owner", moved.owner().text());
                }
                line.put("shard", moved.shard().text());
            }
            case Change.Described described -> line.putPOJO("attributes", described.attributes());
            case Change.Merged merged -> line.put("into", merged.into().toString());
            case Change.Deleted deleted -> {}
            case Change.Erased erased -> {}
        }
    }
}
