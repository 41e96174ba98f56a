/** Runs the service on one machine with embedded databases; nothing that a real service needs. */
@NullMarked
package com.example.music.local;

import org.jspecify.annotations.NullMarked;
