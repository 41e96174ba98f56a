CREATE TABLE IF NOT EXISTS tracks (id uuid PRIMARY KEY, title varchar(100) NOT NULL);
