/** Runs the service on one machine with embedded databases. A service in production does not need this package. */
@NullMarked
package com.example.music.local;

import org.jspecify.annotations.NullMarked;
