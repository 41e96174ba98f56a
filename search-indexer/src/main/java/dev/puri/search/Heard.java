package dev.puri.search;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was heard last of names, and readers of the index can see: up to which event, and who bears which
 * handle. So that those who wait for what is just coming need not ask the engine. The newest {@value #MOST}.
 */
final class Heard {
    static final int MOST = 100_000;

    private final Map<Puri, Position> rows = new Newest<>();
    private final Map<Handle, Puri> bearers = new Newest<>();

    /** A map that forgets what was put first. */
    private static final class Newest<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > MOST;
        }
    }

    synchronized void row(Puri puri, Position last, @Nullable Handle handle) {
        rows.remove(puri);
        rows.put(puri, last);
        if (handle != null) {
            bearer(handle, puri);
        }
    }

    synchronized void bearer(Handle handle, Puri puri) {
        bearers.put(handle, puri);
    }

    synchronized void gone(Puri puri) {
        rows.remove(puri);
    }

    synchronized @Nullable Position lastOf(Puri puri) {
        return rows.get(puri);
    }

    synchronized @Nullable Puri bearer(Handle handle) {
        return bearers.get(handle);
    }
}
