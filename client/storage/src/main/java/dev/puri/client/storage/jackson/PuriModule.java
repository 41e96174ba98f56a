package dev.puri.client.storage.jackson;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.KeyDeserializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import dev.puri.client.storage.CanonicalTextType;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads pURIs, handles, owners, shards, prefixes and positions as JSON strings and as keys of JSON objects.
 * A malformed text causes an {@link com.fasterxml.jackson.databind.exc.InvalidFormatException}, which names the path in
 * the document and the violated rule.
 *
 * <pre>{@code
 * ObjectMapper mapper = JsonMapper.builder().addModule(new PuriModule()).build();
 * }</pre>
 *
 * <p>{@code ObjectMapper.findAndRegisterModules()} registers this module automatically.
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

    private static final class KeySerializer extends JsonSerializer<Object> {
        @Override
        public void serialize(Object value, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.writeFieldName(value.toString());
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
        public @Nullable T deserialize(JsonParser json, DeserializationContext context) throws IOException {
            if (!json.hasToken(JsonToken.VALUE_STRING)) {
                return textType.javaType().cast(context.handleUnexpectedToken(textType.javaType(), json));
            }
            String text = json.getText();
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
        public @Nullable Object deserializeKey(String key, DeserializationContext context) throws IOException {
            try {
                return textType.parse(key);
            } catch (IllegalArgumentException e) {
                return context.handleWeirdKey(textType.javaType(), key, e.getMessage());
            }
        }
    }
}
