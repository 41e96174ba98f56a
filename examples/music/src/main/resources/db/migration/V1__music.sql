-- The same tables in each shard. A primary key is the uuid of the identity; the pURI is in the registry.
CREATE TABLE artists (id uuid PRIMARY KEY, name varchar(200) NOT NULL);

CREATE TABLE tracks (
  id uuid PRIMARY KEY,
  title varchar(200) NOT NULL,
  artist varchar(40) NOT NULL            -- the identifier of a music:artists, which may be in any shard
);
CREATE INDEX ON tracks (artist);

CREATE TABLE playlists (id uuid PRIMARY KEY, title varchar(200) NOT NULL);

CREATE TABLE playlist_items (
  playlist uuid NOT NULL REFERENCES playlists,
  position integer NOT NULL,
  item_collection smallint NOT NULL,     -- with item a pURI of any collection, in any shard
  item varchar(40) NOT NULL,
  PRIMARY KEY (playlist, position)
);
