/** The types of names: pURI, handle, prefix, owner, shard. Imports only {@code java.*}. */
package dev.puri.schemas.identity;
