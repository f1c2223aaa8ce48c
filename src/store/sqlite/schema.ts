// What each step of the schema makes. A step, once released, never changes; a new one is added below it.

/** Customers, tanks, readings, keys. */
export const FIRST = `
  CREATE TABLE customer (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    email TEXT NOT NULL,
    last_seen_at INTEGER,
    name TEXT NOT NULL,
    phone TEXT,
    updated_at INTEGER NOT NULL,
    verified_at INTEGER,
    tank_count INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX customer_by_creation ON customer (created_at, id) WHERE deleted = 0;
  CREATE INDEX customer_by_email ON customer (email, created_at, id) WHERE deleted = 0;

  CREATE TABLE tank (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    assigned_device_id TEXT NOT NULL,
    capacity REAL NOT NULL,
    capacity_unit TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    custom_id TEXT,
    min_fill_alert_percentage INTEGER NOT NULL,
    name TEXT NOT NULL,
    owner_id TEXT NOT NULL REFERENCES customer (id),
    updated_at INTEGER NOT NULL,
    use_case TEXT,
    city TEXT,
    country TEXT,
    district TEXT,
    latitude REAL,
    longitude REAL,
    postal_code TEXT,
    region TEXT,
    street TEXT,
    street_number TEXT,
    reading_count INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX tank_by_creation ON tank (created_at, id) WHERE deleted = 0;
  CREATE INDEX tank_by_owner ON tank (owner_id, created_at, id) WHERE deleted = 0;
  CREATE UNIQUE INDEX tank_by_device ON tank (assigned_device_id) WHERE deleted = 0;

  -- Clustered by tank and time: a page is one short walk, and a reading costs about 26 bytes.
  CREATE TABLE reading (
    tank INTEGER NOT NULL REFERENCES tank (pk),
    created_at INTEGER NOT NULL,
    fill REAL NOT NULL,
    PRIMARY KEY (tank, created_at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE api_key (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    customer_id TEXT REFERENCES customer (id),
    device_id TEXT,
    rate REAL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    replaced_by TEXT
  ) STRICT;
  `;

/** Readings in blocks, and milestones. The readings of before are moved over bit by bit. */
export const BLOCKS_AND_MILESTONES = `
  -- The head of a tank's telemetry: the number of all its readings, and the newest of them.
  CREATE TABLE telemetry (
    tank INTEGER PRIMARY KEY REFERENCES tank (pk),
    total INTEGER NOT NULL DEFAULT 0,
    start INTEGER NOT NULL DEFAULT ${Number.MIN_SAFE_INTEGER},
    data BLOB NOT NULL DEFAULT x''
  ) STRICT;
  INSERT INTO telemetry (tank) SELECT pk FROM tank;

  -- Older readings, some 128 to a row. Keyed by rowid: a large row in an index would make a tall, thin tree.
  CREATE TABLE block (
    pk INTEGER PRIMARY KEY,
    tank INTEGER NOT NULL REFERENCES tank (pk),
    start INTEGER NOT NULL,
    data BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX block_by_start ON block (tank, start);

  -- Milestones, a group of them to a row. Keyed by rowid, as blocks are.
  CREATE TABLE reading_milestone (
    pk INTEGER PRIMARY KEY,
    tank INTEGER NOT NULL REFERENCES tank (pk),
    level INTEGER NOT NULL,
    start INTEGER NOT NULL,
    starts BLOB NOT NULL,
    aheads BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX reading_milestone_by_start ON reading_milestone (tank, level, start);

  CREATE TABLE list_milestone (
    pk INTEGER PRIMARY KEY,
    series TEXT NOT NULL,
    level INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    created_ats BLOB NOT NULL,
    ids TEXT NOT NULL,
    aheads BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX list_milestone_by_position ON list_milestone (series, level, created_at, id);
`;

/** Whose key a reading that waits was sent with. */
export const SENDERS_OF_WAITING = "ALTER TABLE waiting ADD COLUMN customer_id TEXT";

/** What is left of the first step's readings. */
export const WITHOUT_READINGS = `
  DROP TABLE reading;
  ALTER TABLE tank DROP COLUMN reading_count;
`;

/** Devices and what waits of them, the fleet, the audit log, creations that may arrive twice, and what searches need. */
export const DEVICES_AND_FLEET = `
  ALTER TABLE customer ADD COLUMN deleted_at INTEGER;
  ALTER TABLE tank ADD COLUMN deleted_at INTEGER;
  -- As JSON.
  ALTER TABLE tank ADD COLUMN shape TEXT;

  CREATE INDEX customer_by_name ON customer (lower(name)) WHERE deleted = 0;
  CREATE INDEX customer_by_any_case_email ON customer (lower(email)) WHERE deleted = 0;
  CREATE INDEX customer_deleted ON customer (created_at, id) WHERE deleted = 1;
  CREATE INDEX tank_by_name ON tank (lower(name)) WHERE deleted = 0;
  CREATE INDEX tank_by_city ON tank (lower(city)) WHERE deleted = 0;
  CREATE INDEX tank_by_custom_id ON tank (lower(custom_id)) WHERE deleted = 0;
  CREATE INDEX tank_deleted ON tank (created_at, id) WHERE deleted = 1;

  -- Every device that serves a tank, has a profile, or was heard of; \`id\` is its key. \`waiting\` counts the rows there.
  CREATE TABLE device (
    id TEXT PRIMARY KEY,
    tank TEXT,
    since INTEGER NOT NULL DEFAULT ${Number.MIN_SAFE_INTEGER},
    profile TEXT,
    waiting INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX device_waiting ON device (id) WHERE waiting > 0;
  CREATE INDEX device_free ON device (id) WHERE tank IS NULL;

  -- Where devices were before.
  CREATE TABLE service (
    device TEXT NOT NULL,
    until INTEGER NOT NULL,
    tank TEXT NOT NULL,
    PRIMARY KEY (device, until)
  ) STRICT, WITHOUT ROWID;

  -- Readings of devices that have no tank, or no profile that reads them. A fill or a payload (JSON).
  CREATE TABLE waiting (
    device TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    fill REAL,
    payload TEXT,
    PRIMARY KEY (device, created_at)
  ) STRICT, WITHOUT ROWID;

  -- A row for every live tank: its threshold and its latest reading. What is indexed is coarse, so that few readings move an
  -- entry: the margin in steps, and the quarter of the day in which the tank was last heard.
  CREATE TABLE fleet (
    tank TEXT PRIMARY KEY,
    threshold INTEGER NOT NULL,
    at INTEGER NOT NULL,
    fill REAL,
    urgency INTEGER NOT NULL,
    heard INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX fleet_by_urgency ON fleet (urgency);
  CREATE INDEX fleet_by_heard ON fleet (heard);

  -- Numbered without a gap.
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    object TEXT NOT NULL,
    id TEXT NOT NULL,
    action TEXT NOT NULL,
    changes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_time ON audit (at);
  CREATE INDEX audit_by_object ON audit (object, id);
  CREATE INDEX audit_by_id ON audit (id);
  CREATE INDEX audit_by_who ON audit (who);

  -- Creations that may arrive twice: what was asked, and the answer.
  CREATE TABLE once (
    who TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    asked TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (who, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX once_by_time ON once (at);
`;

/** The key of a device, as the domain has it: an EUI-64 counts in lower case. */
export const KEY_OF_DEVICE = `iif(length(assigned_device_id) = 16 AND assigned_device_id NOT GLOB '*[^0-9A-Fa-f]*',
    lower(assigned_device_id), assigned_device_id)`;

/** Of two tanks with one key the older has it. */
export const DEVICES_OF_TANKS = `
  INSERT OR IGNORE INTO device (id, tank)
  SELECT ${KEY_OF_DEVICE}, id
  FROM tank WHERE deleted = 0 ORDER BY created_at, id;
`;
