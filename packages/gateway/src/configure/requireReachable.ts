import { literalText, type ServerSettings } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import { declaredVariables, needsOAuth, usesObo } from '../registry/scope.ts';
import { snapshotOf } from '../registry/snapshot.ts';
import type { UserServer } from '../registry/server.ts';
import type { ConfigureParts, Looked } from './parts.ts';
import { requireTarget } from './requireTarget.ts';

/**
 * Whether users' values may go there, whether users may choose this address, and whether an MCP server is there. Before
 * anything of it is stored. Null: it cannot be looked at before a user comes.
 */
export async function requireReachable(
  parts: Pick<ConfigureParts, 'checkAddress' | 'inspect' | 'oboTargets' | 'declaresHttp'>,
  server: UserServer,
): Promise<Looked | null> {
  const { settings } = server;
  requireTarget(parts, { source: 'user', settings }, { isElsewhere: true });
  const address = addressOf(settings);
  if (address !== undefined) await parts.checkAddress(address);
  return canBeAskedNow(settings) ? parts.inspect(server) : null;
}

/** A definition as the thing that is looked at, before it is one that the registry knows. */
export function asUserServer(
  settings: ServerSettings,
  { id, tenant, author }: { readonly id: string; readonly tenant: string; readonly author: string },
): UserServer {
  const identity = { id, tenant, author, source: 'user' } as const;
  const snapshot = snapshotOf(settings, identity, {
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
function canBeAskedNow(settings: ServerSettings): boolean {
  return !usesObo(settings) && !needsOAuth(settings) && declaredVariables(settings).length === 0;
}

/** Undefined when a value of a user chooses the host: such an address is judged with each request. */
function addressOf(settings: ServerSettings): string | undefined {
  if (settings.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  const { url } = settings;
  const whole = literalText(url);
  if (whole !== undefined) return whole;
  const [first] = url;
  const text = first?.kind === 'literal' ? first.text : '';
  return /^[a-z]+:\/\/[^/?#]+[/?#]/i.test(text) ? new URL(text).origin : undefined;
}
