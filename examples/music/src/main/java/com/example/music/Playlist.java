package com.example.music;

import java.util.List;

/**
 * A playlist's page.
 *
 * @param items in the user's order
 */
record Playlist(String title, List<Item> items) {}
