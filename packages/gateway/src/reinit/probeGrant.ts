import type { ListAll } from '../catalog/listAll.ts';
import type { NewToken } from '../credentials/oauth/flows/flowParts.ts';
import type { ProbeResult } from '../credentials/oauth/flows/flowPayload.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import type { UserToken } from '../credentials/oauthTokens.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { renderTarget } from '../registry/renderTarget.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { enter, type AskParts } from '../toolcall/askServer.ts';
import type { Bearer, RemoteTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { bareSettings } from './bareSettings.ts';
import { BARE_TIMEOUT_MS, discoverBare, type BareParts } from './discoverBare.ts';

export interface ProbeParts extends AskParts, BareParts {
  readonly listAll: ListAll;
}

/**
 * Whether the server takes this very token: the tools are listed with it, over a connection that nobody else uses. What calls
 * present is left as it is, and nothing that they know changes by it.
 */
export async function probeGrant(
  parts: ProbeParts,
  { name }: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const server = enter(parts, { principal, door: 'rest', signal }, name, 'MCP_SERVER_NOT_FOUND');
  if (server.scope !== 'user') return 'unreachable';
  try {
    const own = asItIs(token);
    const { target } = await parts.credentials.obtain(server, principal, {}, createTokenRequestBudget(), {
      userToken: own,
    });
    if (target.type === 'stdio') return 'unreachable';
    await list(parts, server, target, signal);
  } catch (error) {
    return isRefusal(error) ? 'refused' : 'unreachable';
  }
  const bare = bareSettings(server.settings);
  const rendered = bare && renderTarget(bare, {}, { audience: server.audience, inheritedEnv: {} });
  if (!rendered?.ok || rendered.target.type === 'stdio') return 'ok';
  const listed = await discoverBare(parts, server, rendered.target, signal);
  return listed ? 'unverified' : 'ok';
}

/** Nobody renews it: what is asked is whether this one is taken. */
function asItIs({ key, token, canonicalUrl }: NewToken): UserToken {
  const bearer: Bearer = {
    token: () => token,
    renew: () => Promise.resolve(false),
    hasRenewed: () => false,
    presentedTokens: () => [typeof token === 'string' ? token : token.text],
  };
  return { bearer, key, canonicalUrl, grantHash: '' };
}

async function list(
  { open, listAll }: Pick<ProbeParts, 'open' | 'listAll'>,
  { id, settings: { era, initTimeout } }: ServerSnapshot,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<void> {
  const initTimeoutMs = Math.min(initTimeout, BARE_TIMEOUT_MS);
  const upstream = await open(target, { server: id, owner: undefined, era, initTimeoutMs, signal });
  try {
    const { headers, bearer } = target;
    const limits = { timeoutMs: BARE_TIMEOUT_MS, totalMs: BARE_TIMEOUT_MS };
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
