package dev.puri.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The bearer tokens that a file lists as hashes. A line is {@code NAME SCOPE,SCOPE SHA-256-IN-HEX}; empty lines and
 * lines that begin with {@code #} are ignored.
 *
 * <p>A plain hash is sufficient, because the tokens are long and random and cannot be guessed. A look-up compares the
 * hash with every listed hash in constant time, so that the duration of the look-up reveals nothing about the tokens.
 */
record StaticTokens(List<Token> tokens) {
    static final StaticTokens NONE = new StaticTokens(List.of());

    record Token(TokenHash hash, Authorization authorization) {}

    StaticTokens {
        tokens = List.copyOf(tokens);
    }

    /**
     * Reads the file.
     *
     * @throws UnusableFileException if the file cannot be read or a line is invalid
     */
    static StaticTokens read(Path file) throws UnusableFileException {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            throw new UnusableFileException("PURI_AUTH_TOKENS: the file " + file + " cannot be read: " + e, e);
        }
        List<Token> tokens = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            Token token = parse(line.split("\\s+"));
            if (token == null) {
                throw new UnusableFileException(
                        "PURI_AUTH_TOKENS: line " + (i + 1) + " of " + file
                                + " is not NAME SCOPE,SCOPE SHA-256-IN-HEX; the scopes are resolve, changes and admin",
                        null);
            }
            tokens.add(token);
        }
        return new StaticTokens(tokens);
    }

    private static @Nullable Token parse(String[] fields) {
        if (fields.length != 3) {
            return null;
        }
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        for (String scope : fields[1].split(",", -1)) {
            switch (scope) {
                case "resolve" -> scopes.add(Scope.RESOLVE);
                case "changes" -> scopes.add(Scope.CHANGES);
                case "admin" -> scopes.add(Scope.ADMIN);
                default -> {
                    return null;
                }
            }
        }
        TokenHash hash = TokenHash.parse(fields[2].toLowerCase(Locale.ROOT));
        return hash == null ? null : new Token(hash, new Authorization(fields[0], scopes, Long.MAX_VALUE));
    }

    /** Returns the authorization of the token with this hash, or null if there is no such token. */
    @Nullable
    Authorization find(TokenHash hash) {
        Authorization found = null;
        for (Token token : tokens) {
            // No early return, so that every look-up takes the same time.
            boolean isEqual = token.hash().equals(hash);
            found = isEqual ? token.authorization() : found;
        }
        return found;
    }
}
