package dev.puri.spring.boot;

import dev.puri.schemas.serde.UserInfo;
import java.util.List;
import java.util.stream.Collectors;

/** Settings of {@link PuriProperties} are invalid. The message lists all mistakes, and masks the user info of URLs. */
final class InvalidPuriPropertiesException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    InvalidPuriPropertiesException(List<String> mistakes) {
        super("invalid settings:\n  " + mistakes.stream().map(UserInfo::masked).collect(Collectors.joining("\n  ")));
    }
}
