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
import dev.puri.client.storage.NameType;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads pURIs, handles, owners, shards, prefixes and positions as JSON strings, and as keys of objects. Malformed text
 * gives an {@link com.fasterxml.jackson.databind.exc.InvalidFormatException} with the path in the document and
 * the broken rule.
 *
 * <pre>{@code
 * ObjectMapper mapper = JsonMapper.builder().addModule(new PuriModule()).build();
 * }</pre>
 *
 * <p>{@code findAndRegisterModules} finds it.
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

    private static final class KeySerializer extends JsonSerializer<Object> {
        @Override
        public void serialize(Object value, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.writeFieldName(value.toString());
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
        public @Nullable T deserialize(JsonParser json, DeserializationContext context) throws IOException {
            if (!json.hasToken(JsonToken.VALUE_STRING)) {
                return name.type().cast(context.handleUnexpectedToken(name.type(), json));
            }
            String text = json.getText();
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
        public @Nullable Object deserializeKey(String key, DeserializationContext context) throws IOException {
            try {
                return name.parse(key);
            } catch (IllegalArgumentException e) {
                return context.handleWeirdKey(name.type(), key, e.getMessage());
            }
        }
    }
}
