/** What a service embeds: minting names, publishing events, reading the collections. */
@NullMarked
package dev.puri.client;

import org.jspecify.annotations.NullMarked;
