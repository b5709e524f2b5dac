import { scopeList, type FlowView } from '@behalf/contracts';
import { GatewayError } from '../../../errors/gatewayError.ts';
import type { CredentialRecord, OAuthFlowRecord } from '../../../ports/index.ts';
import { returnPath } from '../../../identity/openid/returnPath.ts';
import type { Principal, UserPrincipal } from '../../../principal/principal.ts';
import { couldSignIn } from '../../../registry/couldSignIn.ts';
import type { Allowed } from '../../../toolcall/checkAccess.ts';
import type { Challenge } from '../../../upstream/upstreamError.ts';
import { preferred } from '../../chosenCredential.ts';
import { credentialHolder } from '../../credentialHolder.ts';
import { DEFAULT_LABEL } from '../../oauthTokens.ts';
import { chooseScopes } from '../discovery/chooseScopes.ts';
import { requireAudience } from '../discovery/requireAudience.ts';
import type { OAuthClient } from '../oauthClient.ts';
import type { ClientUse } from '../registration/clients.ts';
import { SignInImpossible } from '../signInProblem.ts';
import { targetFor } from '../signInServers.ts';
import { endFlow } from './endFlow.ts';
import { EXCHANGE_MS, FLOW_CAPS, type OAuthFlowParts } from './flowParts.ts';
import { openPayload, sealPayload, type FlowPayload } from './flowPayload.ts';
import { newSecret, secretHash } from './secrets.ts';

/** Another start of the same user may come in between. */
const MOST_TRIES = 3;
const STEP_UPS = 2;
const STEP_UP_WINDOW_MS = 60 * 60 * 1000;

export interface StartOptions {
  /** A path of ours to come back to. */
  readonly returnTo?: string | undefined;
  /** Which of several credentials; absent: the one in use. */
  readonly label?: string | undefined;
  /** What the server said when it refused. */
  readonly challenge?: Challenge | undefined;
  /** What a sign-in has to reach besides: it is one to widen what there is. */
  readonly widenedScopes?: string | undefined;
  /** What it has to prove: JSON text. */
  readonly claims?: string | undefined;
  /** The browser that asks is the one that will leave: it is given a secret to show. */
  readonly bindsBrowser?: boolean | undefined;
}

export interface StartedFlow {
  readonly flow: FlowView;
  /** One of this user at this server was under way already. */
  readonly isJoined: boolean;
  /** For the cookie of the browser that began it. */
  readonly browserSecret?: string;
}

/** Begins a sign-in of a user at a server, or finds the one that is under way. */
export async function startFlow(
  parts: OAuthFlowParts,
  server: Allowed,
  principal: Principal,
  options: StartOptions = {},
): Promise<StartedFlow> {
  if (principal.kind !== 'user')
    throw new GatewayError('FORBIDDEN', { detail: 'Only people sign in at servers.' });
  if (server.scope !== 'user' || !couldSignIn(server)) throw new SignInImpossible('not_offered');
  const { flows, clock } = parts;
  const { tenant, userId } = principal;
  const own = await parts.credentials.list(tenant, credentialHolder(principal), server.id);
  const wanted = { ...options, label: options.label ?? labelInUse(own, clock.now()) };
  const pending = await flows.pendingOf(tenant, userId, server.id, clock.now());
  const joined = pending && (await join(parts, pending, server, wanted));
  if (joined) return joined;
  // Before anybody is asked or registered at: who has no place costs others nothing.
  await requirePlace(parts, principal);
  await countStepUp(parts, server, principal, options);

  const place = { id: parts.random.id(), tenant, userId, serverId: server.id };
  const before = own.find(({ kind, label }) => kind === 'oauth_code' && label === wanted.label);
  const payload = await prepare(parts, server, principal, wanted, before);
  const browserSecret = options.bindsBrowser ? newSecret(parts.random) : undefined;
  const now = clock.now();
  const { pendingMs, toldMs } = parts.times;
  const flow: OAuthFlowRecord = {
    ...place,
    stateHash: null,
    browserHash: browserSecret === undefined ? null : secretHash(browserSecret),
    status: 'created',
    error: null,
    sealed: sealPayload(parts.keyring, place, payload),
    createdAt: now,
    expiresAt: now + pendingMs,
    // Never before it can have ended.
    removeAt: now + Math.max(toldMs, pendingMs + EXCHANGE_MS),
  };
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const inserted = await flows.insert(flow, FLOW_CAPS, now);
    if (inserted.kind === 'too_many') throw tooMany(inserted.retryAt, now);
    if (inserted.kind === 'inserted') {
      const view = viewOf(parts, flow, server.name, payload);
      return { flow: view, isJoined: false, ...(browserSecret !== undefined && { browserSecret }) };
    }
    const other = await join(parts, inserted.flow, server, wanted);
    if (other) return other;
  }
  throw new GatewayError('MCP_FLOW_PENDING');
}

async function requirePlace(
  { flows, clock }: OAuthFlowParts,
  { tenant, userId }: UserPrincipal,
): Promise<void> {
  const now = clock.now();
  const retryAt = await flows.fullUntil(tenant, userId, FLOW_CAPS, now);
  if (retryAt !== null) throw tooMany(retryAt, now);
}

function tooMany(retryAt: number, now: number): GatewayError {
  return new GatewayError('MCP_FLOW_LIMIT', { retryAfterMs: Math.max(1_000, retryAt - now) });
}

type Wanted = StartOptions & { readonly label: string };

/**
 * One that was handed out to no browser yet becomes that of the first browser of its user which asks for it. Undefined: it was
 * for something else, nobody had left with it, and it is over. One for something else that somebody left with is told of, and
 * stays theirs.
 */
async function join(
  parts: OAuthFlowParts,
  pending: OAuthFlowRecord,
  server: Allowed,
  wanted: Wanted,
): Promise<StartedFlow | undefined> {
  const { bindsBrowser = false } = wanted;
  const payload = openPayload(parts.keyring, pending);
  const joined = { flow: viewOf(parts, pending, server.name, payload), isJoined: true };
  if (!isFor(payload, wanted)) {
    const isOver = await endFlow(parts, pending, {
      ...{ from: ['created'], status: 'cancelled', error: 'cancelled' },
    });
    return isOver ? undefined : joined;
  }
  if (!bindsBrowser || pending.browserHash !== null) return joined;
  const browserSecret = newSecret(parts.random);
  const bound = await parts.flows.move(
    pending.id,
    { status: ['created'], userId: pending.userId, now: parts.clock.now() },
    { browserHash: secretHash(browserSecret) },
  );
  return bound ? { ...joined, browserSecret } : joined;
}

/** For the same credential, and reaching and proving all that is asked for now. */
function isFor({ label, scopes, claims }: FlowPayload, wanted: Wanted): boolean {
  const reached = scopeList(scopes);
  return (
    label === wanted.label &&
    scopeList(wanted.widenedScopes ?? '').every((scope) => reached.includes(scope)) &&
    (wanted.claims === undefined || claims === wanted.claims)
  );
}

/** Everything that can go wrong before a browser is involved goes wrong here. */
async function prepare(
  parts: OAuthFlowParts,
  server: Allowed,
  principal: UserPrincipal,
  wanted: Wanted,
  before: CredentialRecord | undefined,
): Promise<FlowPayload> {
  const { tenant } = principal;
  const holder = credentialHolder(principal);
  const { label, challenge, widenedScopes, claims } = wanted;
  const target = await targetFor(parts.servers, server, { tenant, holder });
  if (!target) throw new SignInImpossible('not_fillable');
  const { as, resource, mustAsk, challengedScope, publishedScopes, bindsTokens } =
    await parts.discovery.discover(target, challenge);
  if (as.authorizationEndpoint === null) throw new SignInImpossible('metadata_invalid');
  const scopes = chooseScopes({
    configured: target.oauth.scope,
    challenged: challengedScope,
    published: publishedScopes,
    offered: as.scopes,
    // All that was asked for before, too: the new grant takes the place of the old one.
    widened: widenedScopes === undefined ? undefined : `${widenedScopes} ${before?.scopesRequested ?? ''}`,
  });
  requireAudience(target, resource, scopes);
  const client = await obtainClient(parts, { tenant, target, issuer: as.issuer, as }, scopes);
  return {
    revision: server.revision,
    label,
    returnTo: returnPath(wanted.returnTo),
    canonicalUrl: target.canonicalUrl,
    issuer: as.issuer,
    isNamed: as.isNamed,
    sendsIssuer: as.sendsIssuer,
    endpoints: {
      authorization: as.authorizationEndpoint,
      token: as.tokenEndpoint,
      revocation: as.revocationEndpoint,
      jwks: as.jwksUri,
    },
    metadataAt: as.fetchedAt,
    clientId: client.clientId,
    clientSource: client.source,
    clientAuth: client.proof.method,
    redirectUri: parts.clients.addresses(target).redirectUri,
    resource,
    scopes,
    claims,
    mustAsk,
    baseGeneration: before?.generation ?? 0,
    bindsTokens,
  };
}

/** What fails is what is renewed: a sign-in that says nothing of a label is for the one that calls are made with. */
function labelInUse(own: readonly CredentialRecord[], now: number): string {
  const used = preferred(own, now);
  return used?.kind === 'oauth_code' && used.status !== 'revoked' ? used.label : DEFAULT_LABEL;
}

/** Where nobody registers us any more, the next sign-in looks for another place. */
async function obtainClient(
  { clients, discovery }: OAuthFlowParts,
  of: ClientUse,
  scopes: string,
): Promise<OAuthClient> {
  try {
    return await clients.obtain(of, scopes);
  } catch (error) {
    if (error instanceof SignInImpossible) discovery.forget(of.issuer);
    throw error;
  }
}

/** A server that is never content would send its user round in circles. */
async function countStepUp(
  { attempts, clock }: OAuthFlowParts,
  server: Allowed,
  { tenant, userId }: UserPrincipal,
  { widenedScopes }: StartOptions,
): Promise<void> {
  if (widenedScopes === undefined) return;
  const key = `oauth-stepup:${JSON.stringify([tenant, userId, server.id, widenedScopes.split(' ').sort()])}`;
  const { count, resetAt } = await attempts.hit(key, STEP_UP_WINDOW_MS);
  if (count <= STEP_UPS) return;
  throw new GatewayError('MCP_FLOW_LIMIT', {
    detail:
      'The server asked for these permissions again although they were asked for. It may never be content.',
    retryAfterMs: Math.max(1_000, resetAt - clock.now()),
  });
}

/** The address is ours, holds no secret and works for this user alone. */
export function viewOf(
  { base }: Pick<OAuthFlowParts, 'base'>,
  flow: OAuthFlowRecord,
  serverName: string,
  { label }: Pick<FlowPayload, 'label'>,
): FlowView {
  const query = new URLSearchParams({ flowId: flow.id }).toString();
  return {
    flowId: flow.id,
    connectUrl: `${base()}/api/mcp/${encodeURIComponent(serverName)}/oauth/initiate?${query}`,
    expiresAt: flow.expiresAt,
    label,
  };
}
