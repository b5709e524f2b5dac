/** Schema steps, oldest first. A step that has shipped is never edited; the next one mends it. */
export const migrations: readonly (readonly string[])[] = [
  [
    `CREATE TABLE users (
      id TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      email TEXT NOT NULL,
      name TEXT NOT NULL,
      role TEXT NOT NULL,
      passwordSealed TEXT,
      createdAt INTEGER NOT NULL,
      updatedAt INTEGER NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX users_identity ON users (tenant, issuer, subject)`,
    `CREATE TABLE sessions (
      hash TEXT PRIMARY KEY,
      userId TEXT NOT NULL,
      tenant TEXT NOT NULL,
      createdAt INTEGER NOT NULL,
      expiresAt INTEGER NOT NULL
    ) STRICT`,
    `CREATE INDEX sessions_user ON sessions (userId)`,
    `CREATE INDEX sessions_expiry ON sessions (expiresAt)`,
    `CREATE TABLE tickets (
      hash TEXT PRIMARY KEY,
      kind TEXT NOT NULL,
      createdAt INTEGER NOT NULL,
      expiresAt INTEGER NOT NULL,
      consumedAt INTEGER
    ) STRICT`,
    `CREATE TABLE system (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`,
    // Below: what a move to another store leaves behind.
    `CREATE TABLE writers (id TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT`,
    `CREATE TABLE maintenance (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT`,
    `CREATE TABLE leases (
      key TEXT PRIMARY KEY,
      owner TEXT NOT NULL,
      purpose TEXT NOT NULL,
      until INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE attempts (key TEXT PRIMARY KEY, count INTEGER NOT NULL, resetAt INTEGER NOT NULL) STRICT`,
    `CREATE TABLE revisions (topic TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT`,
    `CREATE TABLE cache (
      namespace TEXT NOT NULL,
      key TEXT NOT NULL,
      value TEXT NOT NULL,
      expiresAt INTEGER NOT NULL,
      PRIMARY KEY (namespace, key)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX cache_expiry ON cache (expiresAt)`,
  ],
  [
    // Of this very file, so left behind by a move as well: its name, and whose unfinished copy it is.
    `CREATE TABLE origin (one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT, copySource TEXT) STRICT`,
    `INSERT INTO origin (one) VALUES (1)`,
  ],
  [
    `CREATE TABLE variables (
      id TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      userId TEXT NOT NULL,
      serverId TEXT NOT NULL,
      name TEXT NOT NULL,
      valueSealed TEXT NOT NULL,
      updatedAt INTEGER NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX variables_key ON variables (tenant, userId, serverId, name)`,
    `CREATE INDEX variables_server ON variables (tenant, serverId)`,
    `CREATE TABLE servers (
      id TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      name TEXT NOT NULL,
      normalizedName TEXT NOT NULL,
      author TEXT NOT NULL,
      version INTEGER NOT NULL,
      configSealed TEXT NOT NULL,
      createdAt INTEGER NOT NULL,
      updatedAt INTEGER NOT NULL,
      updatedBy TEXT NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX servers_name ON servers (tenant, name)`,
    `CREATE UNIQUE INDEX servers_normalized ON servers (tenant, normalizedName)`,
  ],
];
