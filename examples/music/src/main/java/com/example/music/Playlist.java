package com.example.music;

import java.util.List;

/**
 * The response for a playlist.
 *
 * @param items items in the order of the playlist
 */
record Playlist(String title, List<Item> items) {}
