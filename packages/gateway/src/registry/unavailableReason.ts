import type { ServerSettings, Settings } from '@behalf/settings';
import { resolveScope, usesClientCredentialsGrant } from './scope.ts';
import type { ServerSource } from './server.ts';

/**
 * Restrictions that this gateway may or may not carry out. `sharing`: who besides its author sees a server that a user
 * stored.
 */
export type Restriction = 'access' | 'tools' | 'auth' | 'toolApproval' | 'sharing';

/**
 * Why a server is left out, or null. One that asks for something not enforced yet is not offered at all: a restriction
 * that is written down and ignored would be worse than a server that is missing.
 */
export function getUnavailableReason(
  server: ServerSettings,
  source: ServerSource,
  toolApproval: Settings['endpoints']['toolApproval'],
  enforcedRestrictions: ReadonlySet<Restriction>,
): string | null {
  if (usesClientCredentialsGrant(server) && resolveScope(server, source).scope !== 'app') {
    return 'client_credentials requires a server that all users share, but this server is user-scoped';
  }
  const { deny = [], ask = [], mode, enabled } = toolApproval ?? {};
  const requested: Record<Restriction, boolean> = {
    access: server.access !== undefined,
    tools: server.tools !== undefined,
    auth: server.auth !== undefined && server.auth !== 'none',
    toolApproval: deny.length + ask.length > 0 || mode !== undefined || enabled !== undefined,
    sharing: source === 'user',
  };
  const unenforced = (Object.keys(requested) as Restriction[]).find(
    (name) => requested[name] && !enforcedRestrictions.has(name),
  );
  return unenforced === undefined ? null : reasons[unenforced];
}

const reasons: Record<Restriction, string> = {
  access: 'access is not enforced yet',
  tools: 'tools is not enforced yet',
  auth: 'auth is not supported yet',
  toolApproval: 'endpoints.agents.toolApproval is not enforced yet',
  sharing: 'sharing of stored servers is not enforced yet',
};
