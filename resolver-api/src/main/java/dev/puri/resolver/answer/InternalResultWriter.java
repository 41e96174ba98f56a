package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.JsonBody;
import dev.puri.projection.RejectionsQuery;
import dev.puri.projection.wait.EventStatus;
import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.RecordView;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes results of look-ups as JSON for the internal listener, with all fields. {@code puri}, {@code handle},
 * {@code status}, {@code epoch} and the times are of the requested identity. {@code owner}, {@code shard} and {@code
 * uuid} locate the object: after a merge, the fields are those of the survivor. They are absent if there is no object.
 * {@code canonical} is the survivor's pURI.
 */
public final class InternalResultWriter extends ResultWriter {
    static final byte[] OWNER = ascii(",\"owner\":\"");
    static final byte[] SHARD = ascii("\",\"shard\":\"");
    static final byte[] UUID = ascii("\",\"uuid\":\"");
    static final byte[] CREATED_AT = ascii(",\"createdAt\":\"");
    static final byte[] CHANGED_AT = ascii("\",\"changedAt\":\"");
    private static final byte[] DETAIL = ascii(",\"detail\":");
    private static final byte[] IMPORTING = ascii(",\"importing\":true");
    static final byte[][] STATUSES = new byte[Row.Status.values().length][];

    static {
        for (Row.Status status : Row.Status.values()) {
            String text = status.name().toLowerCase(Locale.ROOT);
            STATUSES[status.ordinal()] = ascii(",\"status\":\"" + text + "\",\"epoch\":");
        }
    }

    private final Declarations declarations;
    private final @Nullable ShardPlan shardPlan;

    /** Whether the last reference is unknown and may still be imported. */
    private boolean isImporting;

    /**
     * @param table in which all references are looked up
     * @param declarations say which collections are being imported
     * @param byShard whether a batch is grouped by shard
     */
    public InternalResultWriter(Table table, Declarations declarations, JsonOut out, boolean byShard) {
        super(table, out);
        this.declarations = declarations;
        shardPlan = byShard ? new ShardPlan() : null;
    }

    @Override
    Verdict find(LookUp lookUp, byte[] text, int from, int to) {
        Verdict verdict = lookUp.find(text, from, to);
        isImporting = verdict == Verdict.UNKNOWN
                && declarations.hasImports()
                && declarations.isImporting(new String(text, from, to - from, StandardCharsets.US_ASCII));
        return verdict;
    }

    @Override
    Verdict find(LookUp lookUp, String ref) {
        Verdict verdict = lookUp.find(ref);
        isImporting = verdict == Verdict.UNKNOWN && declarations.isImporting(ref);
        return verdict;
    }

    @Override
    void prefetch(LookUp lookUp, byte[] text, int[] bounds, int count) {
        lookUp.prefetch(text, bounds, count);
    }

    @Override
    void writeFieldsAfterVerdict(LookUp found) {
        if (found.hasPuri()) {
            out.put(PURI);
            out.name(found);
            out.put('"');
        }
        byte[] canonical = found.canonical();
        if (canonical != null) {
            out.put(CANONICAL).put(canonical).put('"');
        }
        RecordView row = found.row();
        if (row != null && row.hasHandle()) {
            out.put(HANDLE).handle(row).put('"');
        }
        RecordView placement = found.placement();
        if (placement != null) {
            out.put(OWNER).put(placement.ownerBytes()).put(SHARD).put(placement.shardBytes());
            out.put(UUID).uuid(placement.uuidHigh(), placement.uuidLow()).put('"');
            if (shardPlan != null) {
                shardPlan.add(placement, resultCount);
            }
        }
        if (row != null) {
            out.put(STATUSES[row.status().ordinal()]).number(row.epoch());
            out.put(CREATED_AT).time(row.createdMillis());
            out.put(CHANGED_AT).time(row.changedMillis()).put('"');
        }
        String detail = found.detail();
        if (detail != null) {
            out.put(DETAIL).string(detail);
        }
        if (isImporting) {
            out.put(IMPORTING);
        }
    }

    @Override
    void writeAfterResults() {
        if (shardPlan != null) {
            shardPlan.write(out);
        }
    }

    /**
     * Writes the result of a reference with a token, after the wait for the token's event.
     *
     * @param status of the event; if the table has the event, the reference is looked up now
     */
    public Verdict write(String ref, EventStatus status) {
        return switch (status) {
            case EventStatus.Seen seen -> write(ref);
            case EventStatus.Refused refused ->
                writeWithJackson(ref, Verdict.REFUSED, json -> {
                    writePuriAndToken(json, ref, refused.at());
                    writeReason(json, refused);
                });
            case EventStatus.NotCaughtUp late ->
                writeWithJackson(ref, Verdict.NOT_CAUGHT_UP, json -> {
                    writePuriAndToken(json, ref, late.at());
                    json.writeStringField("detail", late.detail());
                });
            case EventStatus.Foreign foreign ->
                writeWithJackson(ref, Verdict.MALFORMED, json -> json.writeStringField("detail", foreign.detail()));
        };
    }

    /** Writes a result without a look-up. Uses Jackson, because such results are rare and need escaping. */
    private Verdict writeWithJackson(String ref, Verdict verdict, JsonBody fieldsAfterVerdict) {
        byte[] result = JsonBody.bytes(json -> {
            json.writeStartObject();
            json.writeStringField("ref", JsonOut.printable(ref));
            json.writeStringField("verdict", verdict.toString());
            fieldsAfterVerdict.writeTo(json);
            json.writeEndObject();
        });
        putSeparator();
        // The line break at the end is left out.
        out.put(result, 0, result.length - 1);
        resultCount++;
        return verdict;
    }

    private static void writePuriAndToken(JsonGenerator json, String ref, Position token) throws IOException {
        if (!Handle.looksLike(ref)) {
            json.writeStringField("puri", Puri.parse(ref).toString());
        }
        json.writeStringField("at", token.toString());
    }

    private static void writeReason(JsonGenerator json, EventStatus.Refused refused) throws IOException {
        String reason = refused.reason().name();
        Refusal refusal = refused.refusal();
        if (refusal == null) {
            json.writeStringField("reason", reason);
        } else {
            RejectionsQuery.writeRefusalFields(json, reason, refusal.detail(), refusal.holder(), refusal.survivor());
        }
    }
}
