package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Change;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "show",
        header = "Show everything about the latest refused events, the oldest of these events first.",
        description = {
            "",
            "The event is printed as a line for puri publish, if it can be decoded now. Otherwise its bytes are"
                    + " printed. Record and headers come from the events topic. If the topic no longer contains the"
                    + " record, the first 64 KiB come from the rejection.",
            ""
        })
final class ShowRejectionsCommand extends Subcommand {
    private static final int MAX_COUNT = 1000;
    private static final int MAX_PRINTED_BYTES = 256;

    @Mixin
    private RejectionFilterOptions filterOptions = new RejectionFilterOptions();

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "Maximum number of events, 1 to 1000 (default: 20).")
    private int count = 20;

    /**
     * A refused event.
     *
     * @param record the record in the events topic; null if the topic no longer contains it
     * @param bytes the value, or its beginning if {@code record} is null; empty if nothing of it is available
     * @param decoded the result of decoding the value
     */
    private record RefusedEvent(
            StoredRejection stored,
            @Nullable ConsumerRecord<byte[], byte[]> record,
            byte[] bytes,
            OriginalDecoder.Result decoded) {}

    @Override
    public Integer call() {
        CommandException.requireUsage(
                1 <= count && count <= MAX_COUNT, "-n must be 1 to " + MAX_COUNT + ", not " + count);
        RejectionFilter filter = filterOptions.parse(Instant.now());
        List<RefusedEvent> events = brokerRequests().retry("the refused events", () -> read(filter));
        events.forEach(event -> {
            if (asJson()) {
                printJson(json(event));
            } else {
                print(event);
            }
        });
        if (events.isEmpty()) {
            // As resolve does for a name that nobody has.
            say("puri: no rejection matches");
            return ExitStatus.PARTLY;
        }
        return ExitStatus.DONE;
    }

    private List<RefusedEvent> read(RejectionFilter filter) {
        CliSettings settings = settings();
        try (LogReader reader = settings.logReader();
                RejectionLog log = RejectionLog.open(reader, settings, this::say);
                OriginalDecoder decoder = OriginalDecoder.of(settings)) {
            LatestRejections rejections = log.latest(filter, count);
            List<RefusedEvent> shown = new ArrayList<>();
            for (StoredRejection stored : rejections.get()) {
                RefusedEvent event = read(stored, log, reader, decoder);
                if (!mergesIntoErased(event, rejections)) {
                    shown.add(event);
                }
            }
            return shown;
        }
    }

    private static RefusedEvent read(
            StoredRejection stored, RejectionLog log, LogReader reader, OriginalDecoder decoder) {
        Rejection rejection = stored.rejection();
        ConsumerRecord<byte[], byte[]> record =
                reader.find(List.of(stored.position())).get(stored.position());
        if (record != null && stored.isOf(record)) {
            byte[] value = record.value();
            return new RefusedEvent(
                    stored, record, value == null ? new byte[0] : value, decoder.decode(record.key(), value));
        }
        ByteBuffer original = log.original(stored);
        byte[] bytes = new byte[original == null ? 0 : original.remaining()];
        if (original != null) {
            original.get(bytes);
        }
        return new RefusedEvent(stored, null, bytes, decode(rejection, bytes, decoder));
    }

    private static OriginalDecoder.Result decode(Rejection rejection, byte[] bytes, OriginalDecoder decoder) {
        if (bytes.length < rejection.getLength()) {
            return new OriginalDecoder.Invalid("the events topic no longer contains the event, and the rejection has"
                    + " only the first " + bytes.length + " of its bytes");
        }
        byte[] key = rejection.getPuri() == null ? null : rejection.getPuri().getBytes(StandardCharsets.UTF_8);
        return decoder.decode(key, rejection.getLength() < 0 ? null : bytes);
    }

    /** Whether the event is a merge into an identity that was erased later, which the rejection does not name. */
    private static boolean mergesIntoErased(RefusedEvent event, LatestRejections rejections) {
        return event.decoded() instanceof OriginalDecoder.Decoded decoded
                && decoded.event().change() instanceof Change.Merged merged
                && rejections.isErasedLater(
                        merged.into().toString(), event.stored().rejection());
    }

    private static Map<String, Object> json(RefusedEvent event) {
        Rejection rejection = event.stored().rejection();
        Map<String, Object> json = event.stored().toJson();
        json.put("length", rejection.getLength());
        json.put("sha256", hex(rejection.getSha256()));
        json.put("inEventsTopic", event.record() != null);
        switch (event.decoded()) {
            case OriginalDecoder.Decoded decoded ->
                json.put("event", Json.parse(EventLineFormatter.format(decoded.event())));
            case OriginalDecoder.Invalid invalid -> {
                json.put("invalid", invalid.why());
                json.put("bytes", Base64.getEncoder().encodeToString(event.bytes()));
            }
        }
        if (event.record() != null) {
            List<Map<String, Object>> headers = new ArrayList<>();
            for (Header header : event.record().headers()) {
                String text = text(header.value());
                headers.add(new JsonObject()
                        .with("name", header.key())
                        .with("text", text)
                        .with(
                                "base64",
                                text == null && header.value() != null
                                        ? Base64.getEncoder().encodeToString(header.value())
                                        : null));
            }
            json.put("headers", headers);
        }
        return json;
    }

    private void print(RefusedEvent event) {
        StoredRejection stored = event.stored();
        Rejection rejection = stored.rejection();
        line(
                "position",
                stored.position() + " (" + LogReader.partitionOf(stored.position()) + " at offset "
                        + stored.position().offset() + ")");
        line("rejected at", rejection.getRejectedAt());
        line("reason", rejection.getReason());
        line("detail", rejection.getDetail());
        line("pURI", rejection.getPuri());
        line("event id", rejection.getEventId());
        line("holder", stored.holder());
        line("survivor", rejection.getSurvivor());
        line("length", rejection.getLength() < 0 ? "no value" : rejection.getLength() + " bytes");
        line("SHA-256", hex(rejection.getSha256()));
        switch (event.decoded()) {
            case OriginalDecoder.Decoded decoded -> line("event", EventLineFormatter.format(decoded.event()));
            case OriginalDecoder.Invalid invalid -> {
                line("event", "invalid: " + invalid.why());
                line("bytes", printed(event.bytes()));
            }
        }
        if (event.record() == null) {
            line("record", "no longer in the events topic");
        } else {
            for (Header header : event.record().headers()) {
                String text = text(header.value());
                line("header", header.key() + ": " + (text == null ? printed(header.value()) : text));
            }
        }
        println("");
    }

    /** Prints a line with a label; nothing if the value is null. */
    private void line(String label, @Nullable Object value) {
        if (value != null) {
            console().out().printf("%-11s  %s%n", label, EscapingConverter.escaped(value.toString()));
        }
    }

    private static String hex(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HexFormat.of().formatHex(copy);
    }

    private static String printed(byte @Nullable [] bytes) {
        if (bytes == null) {
            return "no value";
        }
        int length = Math.min(bytes.length, MAX_PRINTED_BYTES);
        return HexFormat.of().formatHex(bytes, 0, length)
                + (length < bytes.length ? "… (" + bytes.length + " bytes; -o json prints all)" : "");
    }

    /** Returns the text of a header; null if it is not UTF-8. */
    private static @Nullable String text(byte @Nullable [] value) {
        try {
            return value == null
                    ? null
                    : StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(value))
                            .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
