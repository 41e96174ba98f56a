package dev.puri.client.storage.jackson3;

import dev.puri.client.storage.NameType;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.ToStringSerializer;

/**
 * Writes and reads pURIs, handles, owners, shards, prefixes and positions as JSON strings, and as keys of objects. Malformed text
 * gives an {@link tools.jackson.databind.exc.InvalidFormatException} with the path in the document and
 * the broken rule.
 *
 * <pre>{@code
 * ObjectMapper mapper = JsonMapper.builder().addModule(new PuriModule()).build();
 * }</pre>
 *
 * <p>{@code findAndAddModules} finds it.
 */
public final class PuriModule extends SimpleModule {
    private static final long serialVersionUID = 1L;

    /** Makes the module. */
    public PuriModule() {
        super("puri");
        for (NameType<?> each : NameType.ALL) {
            add(each);
        }
    }

    private <T> void add(NameType<T> name) {
        addSerializer(name.type(), ToStringSerializer.instance);
        addKeySerializer(name.type(), new KeySerializer());
        addDeserializer(name.type(), new TextDeserializer<>(name));
        addKeyDeserializer(name.type(), new TextKeyDeserializer<>(name));
    }

    private static final class KeySerializer extends ValueSerializer<Object> {
        @Override
        public void serialize(Object value, JsonGenerator json, SerializationContext context) {
            json.writeName(value.toString());
        }
    }

    private static final class TextDeserializer<T> extends StdScalarDeserializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient NameType<T> name;

        TextDeserializer(NameType<T> name) {
            super(name.type());
            this.name = name;
        }

        @Override
        public @Nullable T deserialize(JsonParser json, DeserializationContext context) {
            if (!json.hasToken(JsonToken.VALUE_STRING)) {
                return name.type().cast(context.handleUnexpectedToken(name.type(), json));
            }
            String text = json.getString();
            try {
                return name.parse(text);
            } catch (IllegalArgumentException e) {
                return name.type().cast(context.handleWeirdStringValue(name.type(), text, e.getMessage()));
            }
        }
    }

    private static final class TextKeyDeserializer<T> extends KeyDeserializer {
        private final NameType<T> name;

        TextKeyDeserializer(NameType<T> name) {
            this.name = name;
        }

        @Override
        public @Nullable Object deserializeKey(String key, DeserializationContext context) {
            try {
                return name.parse(key);
            } catch (IllegalArgumentException e) {
                return context.handleWeirdKey(name.type(), key, e.getMessage());
            }
        }
    }
}
