import type { UserToken } from '../../credentials/oauthTokens.ts';
import { createTokenRequestBudget } from '../../credentials/obo/bearer.ts';
import { SignInRequired } from '../../credentials/signInRequired.ts';
import type { NewToken, ProbeResult } from '../../credentials/signin/flow.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { LoadToolsParts } from '../../toolcall/list.ts';
import { type SendParts, resolveAllowedServer } from '../../toolcall/send.ts';
import type { ItemList, ListAll } from '../../upstream/listAll.ts';
import type { OpenUpstream } from '../../upstream/openUpstream.ts';
import type { Bearer, OpenOptions, RemoteTarget } from '../../upstream/target.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { UpstreamError } from '../../upstream/upstreamError.ts';
import type { ServerSnapshot } from '../definition.ts';
import { renderTarget, withoutCredentials } from '../render.ts';

export interface UnauthenticatedParts {
  readonly open: OpenUpstream;
  /** `tools/list` without any handshake: some servers guard `initialize` and answer this. */
  readonly openWithoutSession: (
    target: RemoteTarget,
    options: Pick<OpenOptions, 'server' | 'initTimeoutMs' | 'signal'>,
  ) => Upstream;
  readonly listAll: LoadToolsParts['listAll'];
}

/** How long a server may take to show its tools to nobody in particular. */
const PROBE_TIMEOUT_MS = 15_000;

/**
 * The tools of a server as it shows them to anybody. Undefined when it shows none; never an error, because the answer
 * to "what is missing" is known already: a sign-in.
 */
export async function discoverUnauthenticated(
  { open, openWithoutSession, listAll }: UnauthenticatedParts,
  server: ServerSnapshot,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<ItemList | undefined> {
  const { era, initTimeout } = server.settings;
  const options = { server: server.id, initTimeoutMs: Math.min(initTimeout, PROBE_TIMEOUT_MS), signal };
  const openers: (() => Upstream | Promise<Upstream>)[] = [
    () => open(target, { ...options, owner: undefined, era }),
  ];
  if (target.type === 'streamable-http') openers.push(() => openWithoutSession(target, options));
  for (const openUpstream of openers) {
    try {
      const upstream = await openUpstream();
      try {
        const limits = { timeoutMs: PROBE_TIMEOUT_MS, totalMs: PROBE_TIMEOUT_MS };
        const listed = await listAll(upstream, 'tools/list', { ...limits, signal, headers: target.headers });
        if (listed.items.length > 0) return listed;
      } finally {
        await upstream.close();
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // Refused is an answer, and another way may be open. Anything else would only take its time again.
      if (!(error instanceof UpstreamError) || error.outcome !== 'refused') return undefined;
    }
  }
  return undefined;
}

interface ProbeGrantParts extends SendParts, UnauthenticatedParts {
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
