package dev.puri.benchmarks.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one benchmark, which can be printed as JSON or as a table.
 *
 * @param machine describes the machine on which the benchmark ran
 */
record Report(String bench, String machine, List<Figure> results) {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Further digits would only show noise. */
    private static final MathContext DIGITS = new MathContext(4);

    /**
     * One measured figure.
     *
     * @param unit e.g. {@code 1/s} or {@code ms}
     * @param baseline name of the baseline; null if there is none
     * @param theirs the figure of the baseline in the same run; null if there is none
     */
    record Figure(
            String name,
            String unit,
            double ours,
            @Nullable String baseline,
            @Nullable Double theirs) {

        /** Returns ours divided by theirs; null if there is no figure of a baseline. */
        @Nullable
        Double ratio() {
            return theirs == null ? null : ours / theirs;
        }
    }

    /** Returns one line of JSON. */
    String json() {
        ObjectNode object = MAPPER.createObjectNode().put("bench", bench).put("machine", machine);
        ArrayNode array = object.putArray("results");
        for (Figure figure : results) {
            array.addObject()
                    .put("name", figure.name())
                    .put("unit", figure.unit())
                    .put("ours", rounded(figure.ours()))
                    .put("baseline", figure.baseline())
                    .put("theirs", rounded(figure.theirs()))
                    .put("ratio", rounded(figure.ratio()));
        }
        try {
            return MAPPER.writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("not representable as JSON: " + this, e);
        }
    }

    /** Returns the figures in columns. */
    String table() {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of(bench, "unit", "ours", "theirs", "ratio", "baseline"));
        for (Figure figure : results) {
            rows.add(List.of(
                    figure.name(),
                    figure.unit(),
                    text(figure.ours()),
                    text(figure.theirs()),
                    text(figure.ratio()),
                    figure.baseline() == null ? "-" : figure.baseline()));
        }
        StringBuilder table = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                int cell = column;
                int width =
                        rows.stream().mapToInt(r -> r.get(cell).length()).max().orElse(0);
                boolean isNumber = column >= 2 && column <= 4;
                String padding = " ".repeat(width - row.get(column).length());
                line.append(isNumber ? padding + row.get(column) : row.get(column) + padding)
                        .append("  ");
            }
            table.append(line.toString().stripTrailing()).append(System.lineSeparator());
        }
        return table.append(machine).append(System.lineSeparator()).toString();
    }

    private static @Nullable BigDecimal rounded(@Nullable Double value) {
        if (value == null) {
            return null;
        }
        BigDecimal digits = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
        return digits.scale() < 0 ? digits.setScale(0) : digits;
    }

    private static String text(@Nullable Double value) {
        BigDecimal rounded = rounded(value);
        return rounded == null ? "-" : rounded.toPlainString();
    }
}
