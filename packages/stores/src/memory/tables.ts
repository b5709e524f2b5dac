import type { CollectionName, Collections } from '@behalf/gateway/ports';

export type Tables = { [N in CollectionName]: Map<string, Collections[N]> };

export function createTables(): Tables {
  return {
    users: new Map(),
    sessions: new Map(),
    tickets: new Map(),
    system: new Map(),
    variables: new Map(),
    servers: new Map(),
    overrides: new Map(),
    roles: new Map(),
    acl: new Map(),
    apiKeys: new Map(),
    credentials: new Map(),
    credentialUsage: new Map(),
    oauthClients: new Map(),
    drafts: new Map(),
    conversations: new Map(),
    chatMessages: new Map(),
    blocks: new Map(),
    sets: new Map(),
    runs: new Map(),
    authorizationServer: new Map(),
    audit: new Map(),
  };
}
