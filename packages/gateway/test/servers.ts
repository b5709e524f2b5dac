import { compileDefinition, type ServerSettings } from '@behalf/settings';
import type { AppServer, ServerSource, UserServer } from '../src/definitions/definition.ts';
import { EVERY_TENANT, createSnapshot } from '../src/definitions/snapshot.ts';
import { rejectAppBearer } from './bearerRig.ts';

export const mcpUrl = 'https://mcp.example/mcp';

/** A definition as the file would hold it, over streamable HTTP unless it says otherwise. */
export function compileSettings(
  definition: Record<string, unknown> = {},
  env: Record<string, string> = {},
): ServerSettings {
  const isProcess = 'command' in definition;
  const fullDefinition = isProcess ? definition : { type: 'streamable-http', url: mcpUrl, ...definition };
  const compiled = compileDefinition('server', fullDefinition, { env });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
  return compiled.server;
}

function serverOf(settings: ServerSettings, source: ServerSource, id: string) {
  const tenant = source === 'yaml' ? EVERY_TENANT : 'default';
  const snapshot = createSnapshot(
    settings,
    { id, tenant, source },
    { inheritedEnv: { PATH: '/bin' }, addressPolicy: '', appBearer: rejectAppBearer },
  );
  if (!snapshot.ok) throw new Error(snapshot.code);
  return snapshot.server;
}

export function createUserSnapshot(
  definition: Record<string, unknown>,
  { source = 'yaml', id = 'server' }: { source?: ServerSource; id?: string } = {},
): UserServer {
  const server = serverOf(compileSettings(definition), source, id);
  if (server.scope !== 'user') throw new Error('It is shared');
  return server;
}

export function createAppSnapshot(
  definition: Record<string, unknown> = {},
  { source = 'yaml', id = 'server' }: { source?: ServerSource; id?: string } = {},
): AppServer {
  const server = serverOf(compileSettings(definition), source, id);
  if (server.scope !== 'app') throw new Error('It is not shared');
  return server;
}
