import { loadSettings, type Settings } from '@behalf/settings';
import { createRegistry, type RegistryLayers, type RegistryParts } from '../src/servers/registry.ts';
import type { ServerSnapshot } from '../src/definitions/definition.ts';
import type { StoredDefinition } from '../src/servers/stored.ts';
import type { Restriction } from '../src/definitions/snapshot.ts';
import { rejectAppBearer } from './bearerRig.ts';

export const baseDefinition = { type: 'streamable-http', url: 'https://base.example/mcp' };
const env = { PATH: '/bin', TOKEN: 'pl4nted', CREDS_KEY: 'never' };

export function settingsFrom(mcpServers: Record<string, unknown>, extraSettings: object = {}): Settings {
  const loaded = loadSettings(JSON.stringify({ mcpServers, ...extraSettings }), { env });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.settings;
}

/** One that a user stored. */
export const createStoredDefinition = (overrides: Partial<StoredDefinition> = {}): StoredDefinition => ({
  id: 'id-1',
  tenant: 'default',
  name: 'mine',
  author: 'u1',
  version: 1,
  updatedAt: 7,
  definition: { type: 'streamable-http', url: 'https://user.example/mcp' },
  securityDecision: { decidedBy: 'u2', isIntact: true },
  ...overrides,
});

/** A registry over a file of these servers. */
export function createRegistryRig(
  mcpServers: Record<string, unknown>,
  layers: Partial<RegistryLayers> = {},
  {
    enforcedRestrictions = ['sharing'],
    extraSettings = {},
    createAppBearer = rejectAppBearer,
  }: {
    enforcedRestrictions?: Restriction[];
    extraSettings?: object;
    createAppBearer?: RegistryParts['appBearer'];
  } = {},
) {
  const failedServers = new Set<ServerSnapshot>();
  const logged: string[] = [];
  const registry = createRegistry({
    env,
    enforcedRestrictions: new Set(enforcedRestrictions),
    hasFailedInspection: (server) => failedServers.has(server),
    appBearer: createAppBearer,
    log: (event, fields) => logged.push(`${event} ${String(fields['server'])}: ${String(fields['reason'])}`),
  });
  registry.update({ settings: settingsFrom(mcpServers, extraSettings), definitions: mcpServers, ...layers });
  const findUrl = (tenant: string, name: string) => {
    const server = registry.find(tenant, name);
    if (server?.scope === 'app') return 'url' in server.target ? server.target.url : undefined;
    return server && 'url' in server.settings ? JSON.stringify(server.settings.url) : undefined;
  };
  return { registry, logged, failedServers, findUrl };
}
