package dev.puri.benchmarks;

import dev.puri.benchmarks.Curve.Cost;
import dev.puri.benchmarks.Curve.Step;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reads the command line of {@link Curve}, and shows what it found. */
@Command(
        name = "curve",
        mixinStandardHelpOptions = true,
        description = {
            "What a look-up, a put and a row of the identity table cost as it grows,",
            "as figures and, with --chart, as an SVG image."
        })
final class CurveCommand implements Callable<Integer> {
    private static final int MILLION = 1_000_000;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Option(
            names = "--rows",
            split = ",",
            paramLabel = "N",
            defaultValue = "1000000,2000000,5000000,10000000,20000000,50000000",
            description = "Sizes of the table, growing (default ${DEFAULT-VALUE}).")
    private List<Integer> sizes = List.of();

    @Option(
            names = "--gets",
            defaultValue = "500000",
            description = "Look-ups of one round and kind (default ${DEFAULT-VALUE}).")
    private int gets;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds after one to warm up; medians count (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = "--chart", paramLabel = "FILE", description = "Where to write the chart.")
    private @Nullable Path chart;

    @Override
    public Integer call() throws Exception {
        boolean grow = sizes.stream().sorted().distinct().toList().equals(sizes);
        if (!grow || sizes.getFirst() < 1000 || gets < 1000 || rounds < 1) {
            throw new ParameterException(
                    spec.commandLine(), "sizes that grow, at least 1000 rows, 1000 gets and 1 round");
        }
        if (chart != null && !Files.isWritable(chart.toAbsolutePath().getParent())) {
            throw new ParameterException(spec.commandLine(), "no chart can be written to " + chart);
        }
        String machine = Machine.describe();
        List<Step> steps = new Curve(
                        new Curve.Plan(sizes, gets, rounds), spec.commandLine().getErr()::println)
                .run();
        if (chart != null) {
            Files.writeString(chart, chart(steps).svg());
        }
        output.print(
                new Report("curve", machine, figures(steps)), spec.commandLine().getOut());
        return 0;
    }

    private static List<Figure> figures(List<Step> steps) {
        List<Figure> figures = new ArrayList<>();
        for (Cost cost : Cost.values()) {
            for (Step step : steps) {
                figures.add(
                        Figure.alone("%s, at %,d rows".formatted(cost.title, step.rows()), cost.unit, step.cost(cost)));
            }
        }
        return figures;
    }

    private static Chart chart(List<Step> steps) {
        boolean inMillions = steps.stream().allMatch(step -> step.rows() % MILLION == 0);
        return new Chart(
                "The identity table as it grows",
                steps.stream()
                        .map(step -> (long) step.rows() / (inMillions ? MILLION : 1))
                        .toList(),
                inMillions ? " M rows" : " rows",
                List.of(
                        new Chart.Panel(
                                "ns a look-up, one thread", lines(steps, Cost.BY_PURI, Cost.BY_HANDLE, Cost.MISS)),
                        new Chart.Panel(
                                "ns a row written or read", lines(steps, Cost.PUT, Cost.UPDATE, Cost.SCAN, Cost.OPEN)),
                        new Chart.Panel("bytes per identity, outside the heap", lines(steps, Cost.BYTES))));
    }

    private static List<Chart.Line> lines(List<Step> steps, Cost... costs) {
        List<Chart.Line> lines = new ArrayList<>();
        for (Cost cost : costs) {
            lines.add(new Chart.Line(
                    cost.title, steps.stream().map(step -> step.cost(cost)).toList()));
        }
        return lines;
    }
}
