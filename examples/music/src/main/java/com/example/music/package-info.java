/**
 * An example service with three shards that registers its objects in the registry. docs/tutorial.md explains the code.
 */
@NullMarked
package com.example.music;

import org.jspecify.annotations.NullMarked;
