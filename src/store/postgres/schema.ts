// What each step of the schema makes. A step, once released, never changes; a new one is added below it.
//
// Fit to be spread over machines: every key of the telemetry tables begins with the tank, every question about telemetry
// carries it, and no number is drawn from a sequence. Text is compared byte by byte (COLLATE "C").

const EARLIEST = Number.MIN_SAFE_INTEGER;

/** Customers, tanks, telemetry, milestones, keys. */
export const FIRST = `
  CREATE TABLE customer (
    id text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL,
    email text COLLATE "C" NOT NULL,
    last_seen_at bigint,
    name text NOT NULL,
    phone text,
    updated_at bigint NOT NULL,
    verified_at bigint,
    tank_count integer NOT NULL DEFAULT 0,
    deleted boolean NOT NULL
  );
  CREATE INDEX customer_by_creation ON customer (created_at, id) WHERE NOT deleted;
  CREATE INDEX customer_by_email ON customer (email, created_at, id) WHERE NOT deleted;

  CREATE TABLE tank (
    id text COLLATE "C" PRIMARY KEY,
    assigned_device_id text COLLATE "C" NOT NULL,
    capacity double precision NOT NULL,
    capacity_unit text NOT NULL,
    created_at bigint NOT NULL,
    custom_id text,
    min_fill_alert_percentage integer NOT NULL,
    name text NOT NULL,
    owner_id text COLLATE "C" NOT NULL REFERENCES customer (id),
    updated_at bigint NOT NULL,
    use_case text,
    city text,
    country text,
    district text,
    latitude double precision,
    longitude double precision,
    postal_code text,
    region text,
    street text,
    street_number text,
    deleted boolean NOT NULL
  );
  CREATE INDEX tank_by_creation ON tank (created_at, id) WHERE NOT deleted;
  CREATE INDEX tank_by_owner ON tank (owner_id, created_at, id) WHERE NOT deleted;
  CREATE UNIQUE INDEX tank_by_device ON tank (assigned_device_id) WHERE NOT deleted;

  -- The head of a tank's telemetry: the number of all its readings, of those in blocks, and the newest themselves. It is
  -- rewritten with every reading: half a page is left free, so that the new version lies beside the old.
  CREATE TABLE telemetry (
    tank text COLLATE "C" PRIMARY KEY REFERENCES tank (id),
    total bigint NOT NULL DEFAULT 0,
    older bigint NOT NULL DEFAULT 0,
    start bigint NOT NULL DEFAULT ${EARLIEST},
    data bytea NOT NULL DEFAULT ''
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);
  -- Never compressed: it is packed already. Here and below nothing is moved out of a row that fits into a page.
  ALTER TABLE telemetry ALTER COLUMN data SET STORAGE PLAIN;

  -- Older readings, some 128 to a row.
  CREATE TABLE block (
    tank text COLLATE "C" NOT NULL,
    start bigint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (tank, start)
  ) WITH (toast_tuple_target = 8160);
  ALTER TABLE block ALTER COLUMN data SET STORAGE PLAIN;

  -- Milestones, a group of them to a row.
  CREATE TABLE reading_milestone (
    tank text COLLATE "C" NOT NULL,
    level smallint NOT NULL,
    start bigint NOT NULL,
    starts bigint[] NOT NULL,
    aheads bigint[] NOT NULL,
    PRIMARY KEY (tank, level, start)
  ) WITH (toast_tuple_target = 8160);

  CREATE TABLE list_milestone (
    series text COLLATE "C" NOT NULL,
    level smallint NOT NULL,
    created_at bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    created_ats bigint[] NOT NULL,
    ids text[] COLLATE "C" NOT NULL,
    aheads bigint[] NOT NULL,
    PRIMARY KEY (series, level, created_at, id)
  ) WITH (toast_tuple_target = 8160);

  CREATE TABLE api_key (
    id text COLLATE "C" PRIMARY KEY,
    hash text COLLATE "C" NOT NULL UNIQUE,
    name text NOT NULL,
    role text NOT NULL,
    customer_id text COLLATE "C" REFERENCES customer (id),
    device_id text,
    rate double precision,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    replaced_by text
  );
`;

/** In the order in which their contents can be put back. */
export const TABLES = ["customer", "tank", "telemetry", "block", "reading_milestone", "list_milestone", "api_key"] as const;
