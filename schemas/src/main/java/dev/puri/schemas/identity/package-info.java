/** The types of names: pURI, handle, prefix, owner and shard. The package imports only {@code java.*}. */
package dev.puri.schemas.identity;
