/** A service with three shards that names its objects in the registry; docs/tutorial.md explains it. */
@NullMarked
package com.example.music;

import org.jspecify.annotations.NullMarked;
