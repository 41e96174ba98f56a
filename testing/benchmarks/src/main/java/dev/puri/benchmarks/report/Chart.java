package dev.puri.benchmarks.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * A line chart as an SVG image: values over growing sizes, in panels one below the other. The axis of sizes is
 * logarithmic; the axes of values are linear and begin at 0. The image follows the viewer's light or dark colours and
 * needs no other file.
 *
 * @param sizes ascending
 * @param sizeUnit is printed after each size at the axis
 */
public record Chart(String title, List<Long> sizes, String sizeUnit, List<Panel> panels) {
    private static final int WIDTH = 900;
    private static final int LEFT = 64;
    private static final int RIGHT = 640;
    private static final int TOP = 56;
    private static final int PANEL = 220;
    private static final int GAP = 84;
    private static final int LABEL = 16;
    private static final int GRID_LINES = 4;

    /** Readers who confuse red and green can also tell these colours apart. */
    private static final String STYLE = """
            .back { fill: #ffffff } text { fill: #24292f; font: 13px system-ui, sans-serif }
            .title { font-size: 16px; font-weight: 600 } .head { font-weight: 600 } .soft { fill: #57606a }
            .grid { stroke: #d0d7de; stroke-width: 1 }
            .line { fill: none; stroke-width: 2 } .dot { stroke: none }
            .s0 { stroke: #0969da; fill: #0969da } .s1 { stroke: #bc4c00; fill: #bc4c00 }
            .s2 { stroke: #1a7f64; fill: #1a7f64 } .s3 { stroke: #8250df; fill: #8250df }
            .s4 { stroke: #bf3989; fill: #bf3989 } .line { fill: none }
            @media (prefers-color-scheme: dark) {
            .back { fill: #0d1117 } text { fill: #e6edf3 } .soft { fill: #9198a1 } .grid { stroke: #30363d }
            .s0 { stroke: #58a6ff; fill: #58a6ff } .s1 { stroke: #f0883e; fill: #f0883e }
            .s2 { stroke: #3fb950; fill: #3fb950 } .s3 { stroke: #bc8cff; fill: #bc8cff }
            .s4 { stroke: #f778ba; fill: #f778ba } .line { fill: none }
            }
            """;

    /** Lines that share an axis. */
    public record Panel(String title, List<Line> lines) {}

    /** One value for each size. */
    public record Line(String name, List<Double> values) {}

    /** Checks that each line has a value for each size. */
    public Chart {
        for (Panel panel : panels) {
            for (Line line : panel.lines) {
                if (line.values.size() != sizes.size()) {
                    throw new IllegalArgumentException(
                            line.name + " has " + line.values.size() + " values for " + sizes.size() + " sizes");
                }
            }
        }
    }

    /** Returns the image. */
    public String svg() {
        int height = TOP + panels.size() * (PANEL + GAP);
        StringBuilder svg = new StringBuilder();
        String size = "width=\"%d\" height=\"%d\"".formatted(WIDTH, height);
        String element = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" %s role=\"img\">";
        add(svg, element, WIDTH, height, size);
        add(svg, "<title>%s</title>", escaped(title));
        svg.append("<style>\n").append(STYLE).append("</style>\n");
        add(svg, "<rect class=\"back\" %s/>", size);
        text(svg, "title", 16, 28, "start", title);
        for (int i = 0; i < panels.size(); i++) {
            addPanel(svg, panels.get(i), TOP + i * (PANEL + GAP) + 28);
        }
        return svg.append("</svg>\n").toString();
    }

    private void addPanel(StringBuilder svg, Panel panel, int top) {
        double maxValue = panel.lines.stream()
                .flatMap(line -> line.values.stream())
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(1);
        double step = step(maxValue / GRID_LINES);
        double axisEnd = step * Math.max(1, Math.ceil(maxValue / step));
        int bottom = top + PANEL;
        text(svg, "head", 16, top - 14, "start", panel.title);
        for (double value = 0; value <= axisEnd * 1.0001; value += step) {
            double y = bottom - value / axisEnd * PANEL;
            add(svg, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, RIGHT);
            text(svg, "soft", LEFT - 8, y + 4, "end", plain(value));
        }
        for (long size : sizes) {
            text(svg, "soft", x(size), bottom + 20, "middle", plain(size) + sizeUnit);
        }
        List<Label> labels = new ArrayList<>();
        for (int i = 0; i < panel.lines.size(); i++) {
            Line line = panel.lines.get(i);
            List<String> points = new ArrayList<>();
            StringBuilder dots = new StringBuilder();
            double y = bottom;
            for (int j = 0; j < sizes.size(); j++) {
                double x = x(sizes.get(j));
                y = bottom - line.values.get(j) / axisEnd * PANEL;
                points.add(String.format(Locale.ROOT, "%.1f,%.1f", x, y));
                String title = line.name + ", " + sizes.get(j) + sizeUnit + ": " + plain(line.values.get(j));
                String circle = "<circle class=\"dot s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s</title></circle>";
                add(dots, circle, i, x, y, escaped(title));
            }
            add(svg, "<polyline class=\"line s%d\" points=\"%s\"/>", i, String.join(" ", points));
            svg.append(dots);
            labels.add(new Label(y + 4, i, line.name + "  " + plain(line.values.getLast())));
        }
        addLabels(svg, labels, bottom + LABEL);
    }

    private record Label(double y, int series, String text) {}

    /** Adds the labels at the ends of their lines, moved up where they would cover one another. */
    private static void addLabels(StringBuilder svg, List<Label> labels, double lowestY) {
        double freeY = lowestY;
        for (Label label : labels.stream()
                .sorted(Comparator.comparingDouble(Label::y).reversed())
                .toList()) {
            double y = Math.min(label.y, freeY);
            add(svg, "<circle class=\"dot s%d\" cx=\"%d\" cy=\"%.1f\" r=\"4\"/>", label.series, RIGHT + 14, y - 4);
            text(svg, "name", RIGHT + 24, y, "start", label.text);
            freeY = y - LABEL;
        }
    }

    private double x(long size) {
        double first = Math.log(sizes.getFirst());
        double span = Math.log(sizes.getLast()) - first;
        return span == 0 ? LEFT : LEFT + (Math.log(size) - first) / span * (RIGHT - LEFT);
    }

    /** Returns the smallest number, of 1, 2 or 5 times a power of ten, that is not less than the minimum. */
    private static double step(double minimum) {
        if (minimum <= 0) {
            return 1;
        }
        double power = Math.pow(10, Math.floor(Math.log10(minimum)));
        for (int factor : new int[] {1, 2, 5}) {
            if (factor * power >= minimum) {
                return factor * power;
            }
        }
        return 10 * power;
    }

    private static String plain(double value) {
        return value >= 10 || value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,.0f", value)
                : String.format(Locale.ROOT, "%.2f", value);
    }

    private static void text(StringBuilder svg, String kind, double x, double y, String anchor, String text) {
        String element = "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>";
        add(svg, element, kind, x, y, anchor, escaped(text));
    }

    private static void add(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
