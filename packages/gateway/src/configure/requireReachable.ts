import { readLiteralText, type ServerSettings } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import { listDeclaredVariables, needsOAuth, usesObo } from '../registry/scope.ts';
import { createSnapshot } from '../registry/snapshot.ts';
import type { UserServer } from '../registry/server.ts';
import type { ConfigureParts, ServerProbe } from './parts.ts';
import { requireSafeTarget } from './requireTarget.ts';

/**
 * Whether users' values may go there, whether users may choose this address, and whether an MCP server is there. Before
 * anything of it is stored. Null: it cannot be looked at before a user comes.
 */
export async function requireReachable(
  parts: Pick<ConfigureParts, 'checkAddress' | 'inspect' | 'oboTargets' | 'isPlainHttpAllowed'>,
  server: UserServer,
): Promise<ServerProbe | null> {
  const { settings } = server;
  requireSafeTarget(parts, { source: 'user', settings }, { isUntrustedAddress: true });
  const address = findLiteralAddress(settings);
  if (address !== undefined) await parts.checkAddress(address);
  return canProbe(settings) ? parts.inspect(server) : null;
}

/** A definition as the thing that is looked at, before it is one that the registry knows. */
export function toUserServer(
  settings: ServerSettings,
  { id, tenant, author }: { readonly id: string; readonly tenant: string; readonly author: string },
): UserServer {
  const identity = { id, tenant, author, source: 'user' } as const;
  const snapshot = createSnapshot(settings, identity, {
    inheritedEnv: {},
    addressPolicy: '',
    appBearer: () => {
      throw new GatewayError('MCP_CONFIG_INVALID');
    },
  });
  // A server of a user is never shared; `scopeOf` says so, and this holds it to its word.
  if (!snapshot.ok || snapshot.server.scope !== 'user') throw new GatewayError('MCP_CONFIG_INVALID');
  return snapshot.server;
}

/** One that waits for a sign-in or for a user's own value has nothing to present yet; an OBO server is never probed. */
function canProbe(settings: ServerSettings): boolean {
  return !usesObo(settings) && !needsOAuth(settings) && listDeclaredVariables(settings).length === 0;
}

/** Undefined when a value of a user chooses the host: such an address is judged with each request. */
function findLiteralAddress(settings: ServerSettings): string | undefined {
  if (settings.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  const { url } = settings;
  const literal = readLiteralText(url);
  if (literal !== undefined) return literal;
  const [firstPart] = url;
  const text = firstPart?.kind === 'literal' ? firstPart.text : '';
  return /^[a-z]+:\/\/[^/?#]+[/?#]/i.test(text) ? new URL(text).origin : undefined;
}
