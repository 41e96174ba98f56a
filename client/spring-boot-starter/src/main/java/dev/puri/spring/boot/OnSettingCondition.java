package dev.puri.spring.boot;

import java.util.List;
import java.util.Map;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Evaluates {@link ConditionalOnAnySetting}. */
final class OnSettingCondition extends SpringBootCondition {
    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Map<String, Object> attributes = metadata.getAnnotationAttributes(ConditionalOnAnySetting.class.getName());
        List<String> names = attributes == null ? List.of() : List.of((String[]) attributes.get("value"));
        Binder binder = Binder.get(context.getEnvironment());
        for (String name : names) {
            if (isSet(binder, name)) {
                return ConditionOutcome.match(message().because(name + " is set"));
            }
        }
        return ConditionOutcome.noMatch(message().because("not set: " + String.join(" or ", names)));
    }

    /** Returns whether a setting has a value. A list must have at least one element. */
    static boolean isSet(Binder binder, String name) {
        return binder.bind(name, Bindable.listOf(String.class))
                .map(values -> !values.isEmpty())
                .orElse(false);
    }

    private static ConditionMessage.Builder message() {
        return ConditionMessage.forCondition(ConditionalOnAnySetting.class);
    }
}
