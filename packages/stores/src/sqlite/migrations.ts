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
  [
    // Who had a role until now had it from an administrator, and no token may take it away.
    `ALTER TABLE users ADD COLUMN roleSource TEXT NOT NULL DEFAULT 'manual'`,
    `ALTER TABLE users ADD COLUMN roleConfirmedAt INTEGER`,
    `ALTER TABLE users ADD COLUMN disabledAt INTEGER`,
    `ALTER TABLE users ADD COLUMN signedOutAt INTEGER`,
    `CREATE INDEX users_tenant ON users (tenant, id)`,
    `CREATE INDEX users_role ON users (tenant, role)`,
    `CREATE INDEX users_signed_out ON users (signedOutAt)`,
    `ALTER TABLE sessions ADD COLUMN via TEXT NOT NULL DEFAULT 'password'`,
    `ALTER TABLE sessions ADD COLUMN groups TEXT NOT NULL DEFAULT '[]'`,
    `ALTER TABLE servers ADD COLUMN securedBy TEXT NOT NULL DEFAULT ''`,
    `ALTER TABLE servers ADD COLUMN securedAt INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE servers ADD COLUMN securedHash TEXT NOT NULL DEFAULT ''`,
    `UPDATE servers SET securedBy = updatedBy, securedAt = updatedAt`,
    `CREATE TABLE overrides (
      id TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      name TEXT NOT NULL,
      version INTEGER NOT NULL,
      configSealed TEXT NOT NULL,
      createdAt INTEGER NOT NULL,
      updatedAt INTEGER NOT NULL,
      updatedBy TEXT NOT NULL,
      securedBy TEXT NOT NULL,
      securedAt INTEGER NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX overrides_name ON overrides (tenant, name)`,
    `CREATE TABLE roles (
      id TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      name TEXT NOT NULL,
      description TEXT NOT NULL,
      permissions TEXT NOT NULL,
      version INTEGER NOT NULL,
      createdAt INTEGER NOT NULL,
      updatedAt INTEGER NOT NULL,
      updatedBy TEXT NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX roles_name ON roles (tenant, name)`,
    `CREATE TABLE acl (
      id TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      serverId TEXT NOT NULL,
      principalType TEXT NOT NULL,
      principalId TEXT NOT NULL,
      bits INTEGER NOT NULL,
      grantedBy TEXT NOT NULL,
      grantedAt INTEGER NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX acl_server ON acl (tenant, serverId, principalType, principalId)`,
    `CREATE INDEX acl_principal ON acl (tenant, principalType, principalId)`,
    `CREATE TABLE apiKeys (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL,
      tenant TEXT NOT NULL,
      userId TEXT NOT NULL,
      name TEXT NOT NULL,
      hint TEXT NOT NULL,
      scopes TEXT NOT NULL,
      createdAt INTEGER NOT NULL,
      expiresAt INTEGER NOT NULL,
      lastUsedAt INTEGER
    ) STRICT`,
    `CREATE UNIQUE INDEX apiKeys_hash ON apiKeys (hash)`,
    `CREATE INDEX apiKeys_user ON apiKeys (userId)`,
    `CREATE INDEX apiKeys_expiry ON apiKeys (expiresAt)`,
    `CREATE TABLE credentials (
      id TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      principal TEXT NOT NULL,
      serverId TEXT NOT NULL,
      kind TEXT NOT NULL,
      label TEXT NOT NULL,
      sealed TEXT NOT NULL,
      expiresAt INTEGER,
      createdAt INTEGER NOT NULL,
      updatedAt INTEGER NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX credentials_principal ON credentials (tenant, principal, serverId, kind, label)`,
    `CREATE INDEX credentials_server ON credentials (tenant, serverId)`,
    `CREATE INDEX credentials_expiry ON credentials (expiresAt)`,
    `CREATE TABLE audit (
      id TEXT PRIMARY KEY,
      writer TEXT NOT NULL,
      seq INTEGER NOT NULL,
      firstAt INTEGER NOT NULL,
      lastAt INTEGER NOT NULL,
      count INTEGER NOT NULL,
      prev TEXT NOT NULL,
      mac TEXT NOT NULL,
      events TEXT NOT NULL
    ) STRICT`,
    `CREATE UNIQUE INDEX audit_writer ON audit (writer, seq)`,
    `CREATE INDEX audit_time ON audit (lastAt, id)`,
  ],
];
