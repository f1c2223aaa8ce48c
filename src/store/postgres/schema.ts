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

/** Devices and what waits of them, the fleet, the audit log, creations that may arrive twice, and what searches need. */
export const DEVICES_AND_FLEET = `
  ALTER TABLE customer ADD COLUMN deleted_at bigint;
  ALTER TABLE tank ADD COLUMN deleted_at bigint;
  -- As JSON; as a text, so that it comes back as it was given.
  ALTER TABLE tank ADD COLUMN shape text;

  CREATE INDEX customer_by_name ON customer (lower(name COLLATE "C")) WHERE NOT deleted;
  CREATE INDEX customer_by_any_case_email ON customer (lower(email)) WHERE NOT deleted;
  CREATE INDEX customer_deleted ON customer (created_at, id) WHERE deleted;
  CREATE INDEX tank_by_name ON tank (lower(name COLLATE "C")) WHERE NOT deleted;
  CREATE INDEX tank_by_city ON tank (lower(city COLLATE "C")) WHERE NOT deleted;
  CREATE INDEX tank_by_custom_id ON tank (lower(custom_id COLLATE "C")) WHERE NOT deleted;
  CREATE INDEX tank_deleted ON tank (created_at, id) WHERE deleted;

  -- Every device that serves a tank, has a profile, or was heard of; "id" is its key. "waiting" counts the rows there.
  CREATE TABLE device (
    id text COLLATE "C" PRIMARY KEY,
    tank text COLLATE "C",
    since bigint NOT NULL DEFAULT ${EARLIEST},
    profile text,
    waiting integer NOT NULL DEFAULT 0,
    dropped bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX device_waiting ON device (id) WHERE waiting > 0;
  CREATE INDEX device_free ON device (id) WHERE tank IS NULL;

  -- Where devices were before.
  CREATE TABLE service (
    device text COLLATE "C" NOT NULL,
    until bigint NOT NULL,
    tank text COLLATE "C" NOT NULL,
    PRIMARY KEY (device, until)
  );

  -- Readings of devices that have no tank, or no profile that reads them. A fill or a payload (JSON).
  CREATE TABLE waiting (
    device text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    fill double precision,
    payload text,
    PRIMARY KEY (device, created_at)
  );

  -- A row for every live tank; it went into the heads later.
  CREATE TABLE fleet (
    tank text COLLATE "C" PRIMARY KEY,
    threshold integer NOT NULL,
    at bigint NOT NULL,
    fill double precision,
    urgency integer NOT NULL,
    heard bigint NOT NULL
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
  CREATE INDEX fleet_by_urgency ON fleet (urgency);
  CREATE INDEX fleet_by_heard ON fleet (heard);

  -- Numbered without a gap, by writers that hold the lock of the lists.
  CREATE TABLE audit (
    number bigint PRIMARY KEY,
    at bigint NOT NULL,
    who text COLLATE "C" NOT NULL,
    object text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    action text NOT NULL,
    changes text NOT NULL
  );
  CREATE INDEX audit_by_time ON audit (at);
  CREATE INDEX audit_by_object ON audit (object, id);
  CREATE INDEX audit_by_id ON audit (id);
  CREATE INDEX audit_by_who ON audit (who);

  -- Creations that may arrive twice: what was asked, and the answer.
  CREATE TABLE once (
    who text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    asked text NOT NULL,
    answer text NOT NULL,
    PRIMARY KEY (who, key)
  );
  CREATE INDEX once_by_time ON once (at);
`;

/** Whose key a reading that waits was sent with; and the latest reading beside its head, so that an append writes one row. */
export const SENDERS_AND_LATEST = `
  ALTER TABLE waiting ADD COLUMN customer_id text COLLATE "C";

  -- The latest reading; and of live tanks, what the fleet is found by. What is indexed is coarse, so that few readings move an
  -- entry: the margin in steps, and the quarter of the day in which the tank was last heard.
  ALTER TABLE telemetry
    ADD COLUMN at bigint NOT NULL DEFAULT ${EARLIEST},
    ADD COLUMN fill double precision,
    ADD COLUMN threshold integer,
    ADD COLUMN urgency integer,
    ADD COLUMN heard bigint;
  DROP TABLE fleet;
  CREATE INDEX fleet_by_urgency ON telemetry (urgency);
  CREATE INDEX fleet_by_heard ON telemetry (heard);
  CREATE VIEW fleet AS SELECT tank, threshold, at, fill, urgency, heard FROM telemetry WHERE urgency IS NOT NULL;
`;

/** In the order in which their contents can be put back. */
export const TABLES = [
  "customer",
  "tank",
  "telemetry",
  "block",
  "reading_milestone",
  "list_milestone",
  "api_key",
  "device",
  "service",
  "waiting",
  "audit",
  "once",
] as const;
