package dev.puri.client.storage.jackson3;

import dev.puri.client.storage.CanonicalTextType;
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

    /** Creates a module for all types in {@link CanonicalTextType#ALL}. */
    public PuriModule() {
        super("puri");
        for (CanonicalTextType<?> textType : CanonicalTextType.ALL) {
            add(textType);
        }
    }

    private <T> void add(CanonicalTextType<T> textType) {
        addSerializer(textType.javaType(), ToStringSerializer.instance);
        addKeySerializer(textType.javaType(), new KeySerializer());
        addDeserializer(textType.javaType(), new TextDeserializer<>(textType));
        addKeyDeserializer(textType.javaType(), new TextKeyDeserializer<>(textType));
    }

    private static final class KeySerializer extends ValueSerializer<Object> {
        @Override
        public void serialize(Object value, JsonGenerator json, SerializationContext context) {
            json.writeName(value.toString());
        }
    }

    private static final class TextDeserializer<T> extends StdScalarDeserializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient CanonicalTextType<T> textType;

        TextDeserializer(CanonicalTextType<T> textType) {
            super(textType.javaType());
            this.textType = textType;
        }

        @Override
        public @Nullable T deserialize(JsonParser json, DeserializationContext context) {
            if (!json.hasToken(JsonToken.VALUE_STRING)) {
                return textType.javaType().cast(context.handleUnexpectedToken(textType.javaType(), json));
            }
            String text = json.getString();
            try {
                return textType.parse(text);
            } catch (IllegalArgumentException e) {
                return textType.javaType()
                        .cast(context.handleWeirdStringValue(textType.javaType(), text, e.getMessage()));
            }
        }
    }

    private static final class TextKeyDeserializer<T> extends KeyDeserializer {
        private final CanonicalTextType<T> textType;

        TextKeyDeserializer(CanonicalTextType<T> textType) {
            this.textType = textType;
        }

        @Override
        public @Nullable Object deserializeKey(String key, DeserializationContext context) {
            try {
                return textType.parse(key);
            } catch (IllegalArgumentException e) {
                return context.handleWeirdKey(textType.javaType(), key, e.getMessage());
            }
        }
    }
}
