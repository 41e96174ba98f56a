-- Events of committed transactions that are not published yet. The columns id, aggregatetype, aggregateid, type and
-- payload are those of Debezium's outbox event router.
CREATE TABLE puri_outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL,
  aggregatetype varchar(127) NOT NULL,
  aggregateid varchar(383) NOT NULL,
  type varchar(32) NOT NULL,
  payload bytea NOT NULL,
  traceparent varchar(55),
  tracestate varchar(512),
  created_ms bigint NOT NULL
);

-- Events that could not be published, each with its error, and the later events of their pURIs, which wait behind them.
-- Only the first event of a pURI has a time to retry.
CREATE TABLE puri_outbox_blocked (
  seq bigint PRIMARY KEY,
  id uuid NOT NULL,
  aggregatetype varchar(127) NOT NULL,
  aggregateid varchar(383) NOT NULL,
  type varchar(32) NOT NULL,
  payload bytea NOT NULL,
  traceparent varchar(55),
  tracestate varchar(512),
  created_ms bigint NOT NULL,
  error varchar(1000),
  attempts integer NOT NULL,
  retry_ms bigint
);
CREATE INDEX ON puri_outbox_blocked (aggregateid, seq);
CREATE INDEX ON puri_outbox_blocked (retry_ms) WHERE retry_ms IS NOT NULL;
