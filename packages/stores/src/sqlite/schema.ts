/**
 * Tables of storage format 100 (`storageFormat.ts`) for an empty database. A database of another format is
 * refused.
 *
 * Format 101 adds a list of migration steps to this file: one array of statements per format, starting at 100.
 * `openDatabase` then runs the steps from the `user_version` it finds, in one transaction that also sets the
 * new number. An empty database gets the new tables directly. A released step never changes.
 */
export const schema: readonly string[] = [
  `CREATE TABLE users (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    roleSource TEXT NOT NULL,
    roleConfirmedAt INTEGER,
    disabledAt INTEGER,
    signedOutAt INTEGER,
    passwordSealed TEXT,
    createdAt INTEGER NOT NULL,
    updatedAt INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX users_identity ON users (tenant, issuer, subject)`,
  `CREATE INDEX users_tenant ON users (tenant, id)`,
  `CREATE INDEX users_role ON users (tenant, role)`,
  `CREATE INDEX users_signed_out ON users (signedOutAt)`,

  // groups and grant contain JSON. A browser session has no grant.
  `CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    userId TEXT NOT NULL,
    tenant TEXT NOT NULL,
    via TEXT NOT NULL,
    groups TEXT NOT NULL,
    grant TEXT NOT NULL,
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

  // Records of the built-in authorization server.
  `CREATE TABLE authorizationServer (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    family TEXT,
    sealed TEXT NOT NULL,
    consumedAt INTEGER,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX authorizationServer_family ON authorizationServer (kind, family)`,
  `CREATE INDEX authorizationServer_expiry ON authorizationServer (expiresAt)`,

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
    updatedBy TEXT NOT NULL,
    securedBy TEXT NOT NULL,
    securedAt INTEGER NOT NULL,
    securedHash TEXT NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX servers_name ON servers (tenant, name)`,
  `CREATE UNIQUE INDEX servers_normalized ON servers (tenant, normalizedName)`,

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

  `CREATE TABLE drafts (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    userId TEXT NOT NULL,
    canonicalUrl TEXT NOT NULL,
    sealed TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    takenAt INTEGER
  ) STRICT`,
  `CREATE INDEX drafts_user ON drafts (tenant, userId)`,
  `CREATE INDEX drafts_removal ON drafts (expiresAt)`,

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

  `CREATE TABLE credentials (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    serverId TEXT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    isDefault INTEGER NOT NULL,
    canonicalUrl TEXT NOT NULL,
    issuer TEXT NOT NULL,
    clientId TEXT NOT NULL,
    resource TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    statusAt INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    tokenSeq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    rtHash TEXT,
    atHash TEXT,
    sealed TEXT,
    rtSuspect INTEGER NOT NULL,
    issuedAt INTEGER NOT NULL,
    lifetimeMs INTEGER,
    tokenExpiresAt INTEGER,
    scopesRequested TEXT NOT NULL,
    scopesGranted TEXT NOT NULL,
    endpoints TEXT NOT NULL,
    claimSeq INTEGER NOT NULL,
    claimOwner TEXT,
    claimStartedAt INTEGER,
    claimDeadline INTEGER,
    expiresAt INTEGER,
    createdAt INTEGER NOT NULL,
    updatedAt INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX credentials_key ON credentials (tenant, principal, serverId, kind, label)`,
  `CREATE INDEX credentials_server ON credentials (tenant, serverId)`,
  `CREATE INDEX credentials_expiry ON credentials (expiresAt)`,
  `CREATE TABLE credentialUsage (
    id TEXT PRIMARY KEY,
    lastUsedAt INTEGER NOT NULL,
    lastOutcome TEXT NOT NULL,
    refreshes INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX credentialUsage_time ON credentialUsage (lastUsedAt)`,

  `CREATE TABLE oauthClients (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    serverId TEXT NOT NULL,
    issuer TEXT NOT NULL,
    redirectUri TEXT NOT NULL,
    clientId TEXT NOT NULL,
    sealed TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER
  ) STRICT`,
  `CREATE INDEX oauthClients_server ON oauthClients (tenant, serverId)`,
  // Not part of a store copy: a sign-in takes minutes.
  `CREATE TABLE oauthFlows (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    userId TEXT NOT NULL,
    serverId TEXT NOT NULL,
    stateHash TEXT,
    browserHash TEXT,
    status TEXT NOT NULL,
    error TEXT,
    sealed TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    removeAt INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX oauthFlows_user ON oauthFlows (tenant, userId, serverId)`,
  `CREATE UNIQUE INDEX oauthFlows_state ON oauthFlows (stateHash)`,
  `CREATE INDEX oauthFlows_removal ON oauthFlows (removeAt)`,

  `CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    userId TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    updatedAt INTEGER NOT NULL,
    sealed TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX conversations_user ON conversations (tenant, userId, updatedAt, id)`,
  // The large column comes last: SQLite reads the columns before it without loading its overflow pages.
  `CREATE TABLE chatMessages (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    userId TEXT NOT NULL,
    conversationId TEXT NOT NULL,
    seq INTEGER NOT NULL,
    size INTEGER NOT NULL,
    createdAt INTEGER NOT NULL,
    sealed TEXT NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX chatMessages_seq ON chatMessages (tenant, userId, conversationId, seq)`,

  `CREATE TABLE blocks (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    serverId TEXT NOT NULL,
    tool TEXT NOT NULL,
    version INTEGER NOT NULL,
    sealed TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    updatedAt INTEGER NOT NULL,
    updatedBy TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX blocks_owner ON blocks (tenant, owner)`,
  `CREATE TABLE sets (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    version INTEGER NOT NULL,
    sealed TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    updatedAt INTEGER NOT NULL,
    updatedBy TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX sets_owner ON sets (tenant, owner)`,
  // The large column comes last, so that lists do not load it.
  `CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    userId TEXT NOT NULL,
    setId TEXT NOT NULL,
    state TEXT NOT NULL,
    isCancelling INTEGER NOT NULL,
    worker TEXT NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL,
    version INTEGER NOT NULL,
    createdAt INTEGER NOT NULL,
    updatedAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    titleSealed TEXT NOT NULL,
    sealed TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX runs_user ON runs (tenant, userId, createdAt)`,
  `CREATE INDEX runs_expiry ON runs (expiresAt)`,

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

  `CREATE TABLE system (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`,

  // The tables below describe this database or coordinate its processes. A store copy leaves them out.
  `CREATE TABLE storeState (id INTEGER PRIMARY KEY CHECK (id = 1), identity TEXT, copySource TEXT) STRICT`,
  `INSERT INTO storeState (id) VALUES (1)`,
  `CREATE TABLE writers (id TEXT PRIMARY KEY, expiresAt INTEGER NOT NULL) STRICT`,
  `CREATE TABLE maintenance (id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT NOT NULL, expiresAt INTEGER NOT NULL) STRICT`,
  `CREATE TABLE leases (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    purpose TEXT NOT NULL,
    expiresAt INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE attempts (key TEXT PRIMARY KEY, count INTEGER NOT NULL, resetAt INTEGER NOT NULL) STRICT`,
  `CREATE TABLE topicRevisions (topic TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT`,
  `CREATE TABLE cache (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expiresAt INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX cache_expiry ON cache (expiresAt)`,
];
