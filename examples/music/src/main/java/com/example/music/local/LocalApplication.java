package com.example.music.local;

import com.example.music.MusicApplication;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringApplication;

/** Starts the databases and then the service. */
public final class LocalApplication {
    private LocalApplication() {}

    /**
     * @param args first the folder for the databases, then Spring settings of the form {@code --name=value}
     */
    public static void main(String[] args) throws Exception {
        List<String> settings = new ArrayList<>(List.of(args).subList(1, args.length));
        settings.addAll(LocalDatabases.start(Path.of(args[0])).settings());
        SpringApplication.run(MusicApplication.class, settings.toArray(String[]::new));
    }
}
