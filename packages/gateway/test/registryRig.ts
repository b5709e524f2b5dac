import { loadSettings, type Settings } from '@behalf/settings';
import { createRegistry, type RegistryLayers, type RegistryParts } from '../src/registry/registry.ts';
import type { ServerSnapshot } from '../src/registry/server.ts';
import type { StoredDefinition } from '../src/registry/storedServers.ts';
import type { Restriction } from '../src/registry/unavailableReason.ts';
import { noAppBearer } from './bearerRig.ts';

export const remote = { type: 'streamable-http', url: 'https://base.example/mcp' };
const env = { PATH: '/bin', TOKEN: 'pl4nted', CREDS_KEY: 'never' };

export function settingsFrom(mcpServers: Record<string, unknown>, more: object = {}): Settings {
  const loaded = loadSettings(JSON.stringify({ mcpServers, ...more }), { env });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.settings;
}

/** One that a user stored. */
export const stored = (over: Partial<StoredDefinition> = {}): StoredDefinition => ({
  id: 'id-1',
  tenant: 'default',
  name: 'mine',
  author: 'u1',
  version: 1,
  updatedAt: 7,
  definition: { type: 'streamable-http', url: 'https://user.example/mcp' },
  securityDecision: { decidedBy: 'u2', isIntact: true },
  ...over,
});

/** A registry over a file of these servers. */
export function registryOf(
  mcpServers: Record<string, unknown>,
  layers: Partial<RegistryLayers> = {},
  {
    enforced = ['sharing'],
    more = {},
    appBearer = noAppBearer,
  }: { enforced?: Restriction[]; more?: object; appBearer?: RegistryParts['appBearer'] } = {},
) {
  const failed = new Set<ServerSnapshot>();
  const logged: string[] = [];
  const registry = createRegistry({
    env,
    enforcedRestrictions: new Set(enforced),
    hasFailedInspection: (server) => failed.has(server),
    appBearer,
    log: (event, fields) => logged.push(`${event} ${String(fields['server'])}: ${String(fields['reason'])}`),
  });
  registry.update({ settings: settingsFrom(mcpServers, more), definitions: mcpServers, ...layers });
  const urlOf = (tenant: string, name: string) => {
    const server = registry.find(tenant, name);
    if (server?.scope === 'app') return 'url' in server.target ? server.target.url : undefined;
    return server && 'url' in server.settings ? JSON.stringify(server.settings.url) : undefined;
  };
  return { registry, logged, failed, urlOf };
}
