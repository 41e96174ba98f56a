-- Events of committed transactions that are not published yet. The columns id, aggregatetype, aggregateid, type and
-- payload are those of Debezium's outbox event router. Needs MySQL 8.0: older ones forget the last seq.
CREATE TABLE puri_outbox (
  seq bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  id char(36) NOT NULL,
  aggregatetype varchar(127) NOT NULL,
  aggregateid varchar(383) NOT NULL,
  type varchar(32) NOT NULL,
  payload mediumblob NOT NULL,
  traceparent varchar(55),
  tracestate varchar(512),
  created_ms bigint NOT NULL
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Events that could not be published, each with its error, and the later events of their pURIs, which wait behind them.
-- Only the first event of a pURI has a time to retry.
CREATE TABLE puri_outbox_blocked (
  seq bigint NOT NULL PRIMARY KEY,
  id char(36) NOT NULL,
  aggregatetype varchar(127) NOT NULL,
  aggregateid varchar(383) NOT NULL,
  type varchar(32) NOT NULL,
  payload mediumblob NOT NULL,
  traceparent varchar(55),
  tracestate varchar(512),
  created_ms bigint NOT NULL,
  error varchar(1000) CHARACTER SET utf8mb4,
  attempts integer NOT NULL,
  retry_ms bigint,
  KEY by_puri (aggregateid, seq),
  KEY by_retry (retry_ms)
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- A transaction locks the row of its pURI's hash until it ends, so that rows of one pURI are numbered in commit order.
CREATE TABLE puri_outbox_lock (
  bucket integer NOT NULL PRIMARY KEY
) ENGINE=InnoDB;
INSERT INTO puri_outbox_lock (bucket)
SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n
FROM (SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
      UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) a
CROSS JOIN (SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
      UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) b
CROSS JOIN (SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
      UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) c
CROSS JOIN (SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
      UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d;
