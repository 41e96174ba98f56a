package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.SoftAssertions;

/**
 * Queries with the hits that must all be among the first three. Hits behind {@code >} must rank below all hits before
 * it, at any rank.
 */
final class RelevanceCases {
    /** One document a line: a pURI without its namespace, then attributes. */
    private static final String DOCUMENTS = """
            tracks:1      title=Blue Monday; artist=New Order; genre=synth-pop
            tracks:2      title=Blue Moon; artist=The Marcels; genre=doo-wop
            tracks:3      title=Moon River; artist=Audrey Hepburn; genre=easy listening
            tracks:4      title=Für Elise; artist=Ludwig van Beethoven; genre=classical
            tracks:5      title=Moonlight Sonata; artist=Ludwig van Beethoven; genre=classical
            tracks:6      title=Halo; artist=Beyoncé; genre=pop
            tracks:7      title=Crazy in Love; artist=Beyoncé; genre=pop
            tracks:8      title=Jóga; artist=Björk; genre=electronic
            tracks:9      title=Hoppípolla; artist=Sigur Rós; genre=post-rock
            tracks:10     title=Back in Black; artist=AC/DC; genre=hard rock
            tracks:11     title=Here Comes the Sun; artist=The Beatles; genre=rock
            tracks:12     title=Sun; artist=Two Door Cinema Club; genre=indie
            tracks:13     title=Black Hole Sun; artist=Soundgarden; genre=grunge
            tracks:14     title=Night Drive; artist=Ana Wilder; genre=house
            tracks:15     title=Drive All Night; artist=The Long Road; genre=rock
            tracks:16     title=1999; artist=Prince; genre=funk
            tracks:17     title=1979; artist=The Smashing Pumpkins; genre=rock
            tracks:18     title=Straße im Regen; artist=Größenwahn; genre=indie
            tracks:19     title=東京の夜; artist=坂本; genre=city pop
            tracks:20     title=Подмосковные вечера; artist=Владимир Трошин; genre=folk
            users:1       name=Beethoven Fan Club; city=Bonn
            users:2       name=Ana Wilder; city=São Paulo; bio=Producer of slow house. Plays at night, drives by day, and has a blue car.
            users:3       name=José Núñez; city=Málaga
            users:4       name=Jose Nunes; city=Lisboa
            users:5       name=Moonlight Studio; city=Reykjavík; bio=We master records. Ask us for a quote, also about a sonata or two.
            users:6       name=sunny_day_1999; city=Oslo
            users:7       name=Smørrebrød Records; city=København
            comments:1    body=This moon song always makes me think of a blue evening by the river, when we were young and the radio was all we had
            comments:2    body=blue monday is the best thing that ever came out of Manchester, I could listen to it for hours and hours and never tire of it
            comments:3    body=Beethoven would have loved this
            comments:4    body=I heard it in a club in Bonn, late, and the sun came up when we left. What a night that was, what a long and lovely drive home!
            comments:5    body=love
            playlists:1   title=Moon songs; description=Everything about the moon: blue, full, new. From Blue Moon to Moon River, with a little Beethoven in between.
            playlists:2   title=Beethoven for working
            playlists:3   title=Songs of the sun; description=Here comes summer
            playlists:4   title=Night drive; description=For the road after midnight: slow house, long bass, few words
            playlists:5   title=Café de la Paix; description=Chansons
            """;

    /** One query a line: the typed text, then the expected hits. */
    private static final String CASES = """
            blue monday            -> tracks:1 > comments:2
            blue moon              -> tracks:2 playlists:1 > comments:1
            "blue moon"            -> tracks:2 playlists:1
            moon blue              -> tracks:2 playlists:1
            moon riv               -> tracks:3
            beethoven              -> users:1 playlists:2 comments:3
            beethovn               -> users:1 playlists:2
            bethoven sonata        -> tracks:5
            beetohven elise        -> tracks:4
            beet*                  -> users:1 playlists:2 comments:3
            ludwig sonata          -> tracks:5
            fur elise              -> tracks:4
            FÜR ELISE              -> tracks:4
            fuer                   -> tracks:4
            beyonce                -> tracks:6 tracks:7
            beyoncé love           -> tracks:7
            bjork                  -> tracks:8
            sigur ros              -> tracks:9
            hoppipola              -> tracks:9
            ac/dc                  -> tracks:10
            black                  -> tracks:10 tracks:13
            sun                    -> tracks:13 tracks:12 > users:6
            "here comes"           -> tracks:11 playlists:3
            night drive            -> tracks:14 playlists:4 tracks:15
            ana wilder             -> users:2 tracks:14
            ana wilder house       -> users:2 tracks:14
            wilder night           -> tracks:14 users:2
            1999                   -> tracks:16
            1979                   -> tracks:17
            strasse                -> tracks:18
            grossenwahn            -> tracks:18
            東京                   -> tracks:19
            вечера                 -> tracks:20
            jose nunez             -> users:3
            josé                   -> users:3 users:4
            smorrebrod             -> users:7
            sao paulo              -> users:2
            moonlight              -> users:5 tracks:5
            moonlight sonata       -> tracks:5 users:5
            mooonlight             -> users:5 tracks:5
            cafe                   -> playlists:5
            cafe la p              -> playlists:5
            love                   -> comments:5 tracks:7 > comments:4
            bonn                   -> users:1 > comments:4
            slow house             -> playlists:4 users:2
            """;

    private static final String NAMESPACE = "soundcloud:";

    private RelevanceCases() {}

    static List<Item> documents() {
        List<Item> items = new ArrayList<>();
        for (String line : DOCUMENTS.lines().toList()) {
            String[] halves = line.split(" +", 2);
            List<String> attributes = new ArrayList<>();
            for (String attribute : halves[1].split("; ")) {
                attributes.addAll(List.of(attribute.split("=", 2)));
            }
            items.add(Item.of(NAMESPACE + halves[0], attributes.toArray(String[]::new)));
        }
        return items;
    }

    /** Runs all queries on an index with the documents. */
    static void check(SearchIndex index) throws Exception {
        SoftAssertions softly = new SoftAssertions();
        for (String line : CASES.lines().toList()) {
            String[] halves = line.split("->", 2);
            String typed = halves[0].strip();
            String[] expected = halves[1].split(">", 2);
            Set<String> first = names(expected[0]);
            List<String> found = SampleQuery.text(typed).limit(100).purisOf(index);
            if (first.isEmpty()) {
                softly.assertThat(found).as(typed).isEmpty();
                continue;
            }
            softly.assertThat(found.subList(0, Math.min(3, found.size())))
                    .as("%s, of all %s", typed, found)
                    .containsAll(first);
            for (String later : names(expected.length == 2 ? expected[1] : "")) {
                softly.assertThat(found.indexOf(later))
                        .as("%s ranks below the others for %s in %s", later, typed, found)
                        .isGreaterThan(
                                first.stream().mapToInt(found::indexOf).max().orElseThrow());
            }
        }
        softly.assertAll();
        assertThat(CASES.lines()).hasSizeGreaterThan(40);
    }

    private static Set<String> names(String text) {
        Set<String> names = new LinkedHashSet<>();
        for (String name : text.strip().split(" +")) {
            if (!name.isEmpty()) {
                names.add(NAMESPACE + name);
            }
        }
        return names;
    }
}
