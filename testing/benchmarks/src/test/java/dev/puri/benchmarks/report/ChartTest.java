package dev.puri.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class ChartTest {
    private static final Chart CHART = new Chart(
            "Costs & <sizes>",
            List.of(1L, 10L, 100L),
            " M",
            List.of(
                    new Chart.Panel(
                            "ns",
                            List.of(
                                    new Chart.Line("flat", List.of(100.0, 100.0, 100.0)),
                                    new Chart.Line("rising", List.of(0.0, 50.0, 101.0)))),
                    new Chart.Panel("B", List.of(new Chart.Line("bytes", List.of(70.5, 71.5, 72.6))))));

    @Test
    void everyValueIsAPointOfItsLine() throws Exception {
        List<double[][]> lines = lines(parsed(CHART));

        assertThat(lines).hasSize(3).allSatisfy(points -> assertThat(points).hasNumberOfRows(3));
        double[][] flat = lines.getFirst();
        assertThat(flat[0][1]).isEqualTo(flat[1][1]).isEqualTo(flat[2][1]);
        double[][] rising = lines.get(1);
        assertThat(rising[0][1]).isGreaterThan(rising[1][1]);
        assertThat(rising[1][1]).isGreaterThan(rising[2][1]);
        assertThat(rising[2][1]).isLessThan(flat[2][1]);
    }

    @Test
    void theAxisOfSizesIsLogarithmic() throws Exception {
        double[][] points = lines(parsed(CHART)).getFirst();

        assertThat(points[1][0] - points[0][0])
                .isPositive()
                .isCloseTo(points[2][0] - points[1][0], org.assertj.core.data.Offset.offset(0.2));
    }

    @Test
    void namesSizesAndLastValuesCanBeRead() throws Exception {
        assertThat(texts(parsed(CHART)))
                .contains("Costs & <sizes>", "ns", "B", "1 M", "10 M", "100 M")
                .contains("flat  100", "rising  101", "bytes  73", "0");
    }

    @Test
    void labelsDoNotOverlap() throws Exception {
        List<Double> heights = new ArrayList<>();
        NodeList all = parsed(CHART).getElementsByTagName("text");
        for (int i = 0; i < all.getLength(); i++) {
            Element text = (Element) all.item(i);
            if (text.getTextContent().startsWith("flat")
                    || text.getTextContent().startsWith("rising")) {
                heights.add(Double.valueOf(text.getAttribute("y")));
            }
        }

        assertThat(heights).hasSize(2);
        assertThat(Math.abs(heights.get(0) - heights.get(1))).isGreaterThanOrEqualTo(14);
    }

    @Test
    void followsLightAndDarkColours() {
        assertThat(CHART.svg()).contains("prefers-color-scheme: dark").doesNotContain("<script", "href");
    }

    @Test
    void aLineWithoutAValueForEachSizeIsRefused() {
        List<Chart.Panel> panels = List.of(new Chart.Panel("ns", List.of(new Chart.Line("short", List.of(1.0)))));

        assertThatThrownBy(() -> new Chart("t", List.of(1L, 2L), "", panels))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("short has 1 values for 2 sizes");
    }

    private static Document parsed(Chart chart) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(chart.svg())));
    }

    private static List<double[][]> lines(Document svg) {
        List<double[][]> lines = new ArrayList<>();
        NodeList all = svg.getElementsByTagName("polyline");
        for (int i = 0; i < all.getLength(); i++) {
            lines.add(Stream.of(((Element) all.item(i)).getAttribute("points").split(" "))
                    .map(point -> Stream.of(point.split(","))
                            .mapToDouble(Double::parseDouble)
                            .toArray())
                    .toArray(double[][]::new));
        }
        return lines;
    }

    private static List<String> texts(Document svg) {
        List<String> texts = new ArrayList<>();
        NodeList all = svg.getElementsByTagName("text");
        for (int i = 0; i < all.getLength(); i++) {
            texts.add(all.item(i).getTextContent());
        }
        return texts;
    }
}
