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
 * Writes and reads pURIs, handles, owners, shards, prefixes and positions as JSON strings and as keys of JSON objects.
 * A malformed text causes an {@link tools.jackson.databind.exc.InvalidFormatException}, which names the path in the
 * document and the violated rule.
 *
 * <pre>{@code
 * ObjectMapper mapper = JsonMapper.builder().addModule(new PuriModule()).build();
 * }</pre>
 *
 * <p>{@code JsonMapper.Builder.findAndAddModules()} registers this module automatically.
 */
public final class PuriModule extends SimpleModule {
    private static final long serialVersionUID = 1L;

    /** Creates a module for all types in {@link NameType#ALL}. */
    public PuriModule() {
        super("puri");
        for (NameType<?> nameType : NameType.ALL) {
            add(nameType);
        }
    }

    private <T> void add(NameType<T> nameType) {
        addSerializer(nameType.javaType(), ToStringSerializer.instance);
        addKeySerializer(nameType.javaType(), new KeySerializer());
        addDeserializer(nameType.javaType(), new TextDeserializer<>(nameType));
        addKeyDeserializer(nameType.javaType(), new TextKeyDeserializer<>(nameType));
    }

    private static final class KeySerializer extends ValueSerializer<Object> {
        @Override
        public void serialize(Object value, JsonGenerator json, SerializationContext context) {
            json.writeName(value.toString());
        }
    }

    private static final class TextDeserializer<T> extends StdScalarDeserializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient NameType<T> nameType;

        TextDeserializer(NameType<T> nameType) {
            super(nameType.javaType());
            this.nameType = nameType;
        }

        @Override
        public @Nullable T deserialize(JsonParser json, DeserializationContext context) {
            if (!json.hasToken(JsonToken.VALUE_STRING)) {
                return nameType.javaType().cast(context.handleUnexpectedToken(nameType.javaType(), json));
            }
            String text = json.getString();
            try {
                return nameType.parse(text);
            } catch (IllegalArgumentException e) {
                return nameType.javaType()
                        .cast(context.handleWeirdStringValue(nameType.javaType(), text, e.getMessage()));
            }
        }
    }

    private static final class TextKeyDeserializer<T> extends KeyDeserializer {
        private final NameType<T> nameType;

        TextKeyDeserializer(NameType<T> nameType) {
            this.nameType = nameType;
        }

        @Override
        public @Nullable Object deserializeKey(String key, DeserializationContext context) {
            try {
                return nameType.parse(key);
            } catch (IllegalArgumentException e) {
                return context.handleWeirdKey(nameType.javaType(), key, e.getMessage());
            }
        }
    }
}
