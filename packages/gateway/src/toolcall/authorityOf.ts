import { scopeList, type Authority, type AuthorityKind } from '@behalf/contracts';
import { usesGraph } from '../registry/scope.ts';
import type { ServerSnapshot } from '../registry/server.ts';

/** In whose name a server is asked, as the audit, the chat and the lists of tools say it. */
export function authorityOf(server: ServerSnapshot): Authority {
  const scopes = scopesOf(server);
  return { kind: kindOf(server), ...(scopes && { scopes }), shared: server.scope === 'app' };
}

const kindByAuth = {
  none: 'none',
  static: 'static',
  userVars: 'user_values',
  oauth: 'user_token',
  obo: 'exchanged',
} as const satisfies Record<string, AuthorityKind>;

function kindOf(server: ServerSnapshot): AuthorityKind {
  if (server.scope === 'user') return usesGraph(server.settings) ? 'exchanged' : kindByAuth[server.auth];
  const { target, settings } = server;
  // A process also gets a few names of ours, which open nothing.
  const configured = settings.type === 'stdio' ? settings.env : target.type !== 'stdio' && target.headers;
  for (const _name in configured || {}) return 'static';
  return 'none';
}

const scopeCache = new WeakMap<ServerSnapshot['settings'], string[]>();

/** A definition never changes, and every call is written down. */
function scopesOf({ settings }: ServerSnapshot): string[] | undefined {
  if (!('obo' in settings) || !settings.obo) return undefined;
  let cached = scopeCache.get(settings);
  if (!cached) scopeCache.set(settings, (cached = scopeList(settings.obo.scopes)));
  return cached;
}
