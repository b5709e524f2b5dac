import type { ListAll } from '../catalog/listAll.ts';
import type { NewToken } from '../credentials/oauth/flows/flowParts.ts';
import type { ProbeResult } from '../credentials/oauth/flows/flowPayload.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import type { UserToken } from '../credentials/oauthTokens.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { renderTarget } from '../registry/renderTarget.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { resolveAllowedServer, type SendParts } from '../toolcall/sendToServer.ts';
import type { Bearer, RemoteTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { withoutCredentials } from './withoutCredentials.ts';
import {
  PROBE_TIMEOUT_MS,
  discoverUnauthenticated,
  type UnauthenticatedParts,
} from './discoverUnauthenticated.ts';

export interface ProbeGrantParts extends SendParts, UnauthenticatedParts {
  readonly listAll: ListAll;
}

/**
 * Whether the server takes this very token: the tools are listed with it, over a connection that nobody else uses. What calls
 * present is left as it is, and nothing that they know changes by it.
 */
export async function probeGrant(
  parts: ProbeGrantParts,
  { name }: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const server = resolveAllowedServer(
    parts,
    { principal, door: 'rest', signal },
    name,
    'MCP_SERVER_NOT_FOUND',
  );
  if (server.scope !== 'user') return 'unreachable';
  try {
    const fixedToken = toFixedToken(token);
    const { target } = await parts.credentials.obtain(server, principal, {}, createTokenRequestBudget(), {
      userToken: fixedToken,
    });
    if (target.type === 'stdio') return 'unreachable';
    await listTools(parts, server, target, signal);
  } catch (error) {
    return isRefusal(error) ? 'refused' : 'unreachable';
  }
  const unauthenticated = withoutCredentials(server.settings);
  const rendered =
    unauthenticated && renderTarget(unauthenticated, {}, { audience: server.audience, inheritedEnv: {} });
  if (!rendered?.ok || rendered.target.type === 'stdio') return 'ok';
  const listed = await discoverUnauthenticated(parts, server, rendered.target, signal);
  return listed ? 'unverified' : 'ok';
}

/** Nobody renews it: what is asked is whether this one is taken. */
function toFixedToken({ key, token, canonicalUrl }: NewToken): UserToken {
  const bearer: Bearer = {
    token: () => token,
    renew: () => Promise.resolve(false),
    hasRenewed: () => false,
    presentedTokens: () => [typeof token === 'string' ? token : token.text],
  };
  return { bearer, key, canonicalUrl, grantHash: '' };
}

async function listTools(
  { open, listAll }: Pick<ProbeGrantParts, 'open' | 'listAll'>,
  { id, settings: { era, initTimeout } }: ServerSnapshot,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<void> {
  const initTimeoutMs = Math.min(initTimeout, PROBE_TIMEOUT_MS);
  const upstream = await open(target, { server: id, owner: undefined, era, initTimeoutMs, signal });
  try {
    const { headers, bearer } = target;
    const limits = { timeoutMs: PROBE_TIMEOUT_MS, totalMs: PROBE_TIMEOUT_MS };
    await listAll(upstream, 'tools/list', { ...limits, signal, headers, ...(bearer && { bearer }) });
  } finally {
    await upstream.close();
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof SignInRequired) return true;
  return (
    error instanceof UpstreamError &&
    ['unauthorized', 'forbidden', 'insufficient_scope'].includes(error.reason)
  );
}
