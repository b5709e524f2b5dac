import type { UserToken } from '../../credentials/oauthTokens.ts';
import { createTokenRequestBudget } from '../../credentials/obo/bearer.ts';
import { SignInRequired } from '../../credentials/signInRequired.ts';
import type { NewToken, ProbeResult } from '../../credentials/signin/flow.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { type SendParts, resolveAllowedServer } from '../../toolcall/credential.ts';
import type { ItemList } from '../../upstream/listAll.ts';
import type { OpenOptions, RemoteTarget } from '../../upstream/target.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { UpstreamError } from '../../upstream/upstreamError.ts';
import { type ServerSnapshot, parseDraftName } from '../../definitions/definition.ts';
import { type ProbeParts, probeTools } from '../probe.ts';
import { renderUnauthenticatedTarget } from '../../definitions/render.ts';

export interface UnauthenticatedParts extends ProbeParts {
  /** Sends `tools/list` without a handshake: some servers require a credential only for `initialize`. */
  readonly openWithoutSession: (
    target: RemoteTarget,
    options: Pick<OpenOptions, 'server' | 'initTimeoutMs' | 'signal'>,
  ) => Upstream;
}

const PROBE_TIMEOUT_MS = 15_000;

function getProbeOptions({ settings }: ServerSnapshot, signal: AbortSignal) {
  const initTimeoutMs = Math.min(settings.initTimeout, PROBE_TIMEOUT_MS);
  return { timeoutMs: PROBE_TIMEOUT_MS, initTimeoutMs, signal };
}

/**
 * Lists the tools of a server without any credential. Returns undefined if the server shows none. Rejects only on abort:
 * the caller already knows the error to report, a missing sign-in.
 */
export async function discoverUnauthenticated(
  { open, openWithoutSession, listAll }: UnauthenticatedParts,
  server: ServerSnapshot,
  signal: AbortSignal,
): Promise<ItemList | undefined> {
  const target = renderUnauthenticatedTarget(server);
  if (!target) return undefined;
  const openers = target.type === 'streamable-http' ? [open, openWithoutSession] : [open];
  for (const openProbe of openers) {
    try {
      const parts = { open: openProbe, listAll };
      const listed = await probeTools(parts, server, target, getProbeOptions(server, signal));
      if (listed.items.length > 0) return listed;
    } catch (error) {
      if (signal.aborted) throw error;
      // After a refusal, the request without a handshake may succeed. After any other error it would fail as well.
      if (!(error instanceof UpstreamError) || error.outcome !== 'refused') return undefined;
    }
  }
  return undefined;
}

interface ProbeGrantParts extends SendParts, UnauthenticatedParts {}

type ProbeGrant = (server: ServerSnapshot, principal: UserPrincipal, token: NewToken) => Promise<ProbeResult>;

/** Probes servers and drafts. A draft is not in the registry, and only the user who created it can use it. */
export function createGrantProbe(parts: ProbeGrantParts): ProbeGrant {
  return (server, principal, token) => {
    const isOwn = server.tenant === principal.tenant && server.author === principal.userId;
    const isDraft = parseDraftName(server.name) !== undefined;
    const draftParts = { ...parts, registry: { find: () => server }, canSee: () => isOwn };
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    return probeGrant(isDraft ? draftParts : parts, server, principal, token, signal);
  };
}

/**
 * Checks whether a server accepts a new token: lists the tools with it over a private connection. Does not change the
 * credential that calls use. `unverified`: the server also shows its tools without a token, so the result proves nothing.
 */
async function probeGrant(
  parts: ProbeGrantParts,
  { name }: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const inbound = { principal, door: 'rest', signal } as const;
  const server = resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  if (server.scope !== 'user') return 'unreachable';
  try {
    const { target } = await parts.credentials.obtain(server, principal, {}, createTokenRequestBudget(), {
      userToken: toFixedToken(token),
    });
    if (target.type === 'stdio') return 'unreachable';
    await probeTools(parts, server, target, getProbeOptions(server, signal));
  } catch (error) {
    return isRefusal(error) ? 'refused' : 'unreachable';
  }
  return (await discoverUnauthenticated(parts, server, signal)) ? 'unverified' : 'ok';
}

/** A token that is never renewed, because the probe tests exactly this token. */
function toFixedToken({ key, token, canonicalUrl }: NewToken): UserToken {
  const bearer: UserToken['bearer'] = {
    token: () => token,
    renew: () => Promise.resolve(false),
    hasRenewed: () => false,
    presentedTokens: () => [typeof token === 'string' ? token : token.text],
  };
  return { bearer, key, canonicalUrl, grantHash: '' };
}

function isRefusal(error: unknown): boolean {
  if (error instanceof SignInRequired) return true;
  return (
    error instanceof UpstreamError &&
    ['unauthorized', 'forbidden', 'insufficient_scope'].includes(error.reason)
  );
}
