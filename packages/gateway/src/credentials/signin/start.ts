import { type FlowView, scopeList } from '@behalf/contracts';
import type { AllowedServer } from '../../access/allowedServer.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { toReturnPath } from '../../identity/openid/returnPath.ts';
import type { CredentialRecord, OAuthFlowRecord } from '../../ports/index.ts';
import type { Principal, UserPrincipal } from '../../principal/principal.ts';
import { mayRequireOAuth } from '../../servers/definition.ts';
import type { Challenge } from '../../upstream/upstreamError.ts';
import { credentialHolder } from '../credentialKeys.ts';
import { selectCredential } from '../credentialSelector.ts';
import type { OAuthClient } from '../oauth/clientAuthentication.ts';
import type { ClientUse } from '../oauth/clients.ts';
import { chooseScopes, requireAudience } from '../oauth/scopes.ts';
import { SignInImpossible, resolveSignInTarget } from '../oauth/signInTarget.ts';
import { DEFAULT_LABEL } from '../oauthTokens.ts';
import {
  FLOW_LIMITS,
  type FlowPayload,
  MAX_EXCHANGE_MS,
  type OAuthFlowParts,
  createFlowSecret,
  endFlow,
  hashFlowSecret,
  openPayload,
  sealPayload,
} from './flow.ts';

/** Another start of the same user may come in between. */
const MAX_ATTEMPTS = 3;
const MAX_STEP_UPS = 2;
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
export async function startOAuthFlow(
  parts: OAuthFlowParts,
  server: AllowedServer,
  principal: Principal,
  options: StartOptions = {},
): Promise<StartedFlow> {
  if (principal.kind !== 'user')
    throw new GatewayError('FORBIDDEN', { detail: 'Only users can sign in to servers.' });
  if (server.scope !== 'user' || !mayRequireOAuth(server)) throw new SignInImpossible('not_offered');
  const { flows, clock } = parts;
  const { tenant, userId } = principal;
  const credentials = await parts.credentials.list(tenant, credentialHolder(principal), server.id);
  const request = { ...options, label: options.label ?? selectLabel(credentials, clock.now()) };
  const pending = await flows.findPending(tenant, userId, server.id, clock.now());
  const joined = pending && (await joinFlow(parts, pending, server, request));
  if (joined) return joined;
  // Before anybody is asked or registered at: who has no place costs others nothing.
  await requireCapacity(parts, principal);
  await limitStepUps(parts, server, principal, options);

  const flowKey = { id: parts.random.id(), tenant, userId, serverId: server.id };
  const previous = credentials.find(({ kind, label }) => kind === 'oauth_code' && label === request.label);
  const payload = await preparePayload(parts, server, principal, request, previous);
  const browserSecret = options.bindsBrowser ? createFlowSecret(parts.random) : undefined;
  const now = clock.now();
  const { pendingMs, retentionMs } = parts.durations;
  const flow: OAuthFlowRecord = {
    ...flowKey,
    stateHash: null,
    browserHash: browserSecret === undefined ? null : hashFlowSecret(browserSecret),
    status: 'created',
    error: null,
    sealed: sealPayload(parts.keyring, flowKey, payload),
    createdAt: now,
    expiresAt: now + pendingMs,
    // Never before it can have ended.
    removeAt: now + Math.max(retentionMs, pendingMs + MAX_EXCHANGE_MS),
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const inserted = await flows.insert(flow, FLOW_LIMITS, now);
    if (inserted.kind === 'too_many') throw flowLimitError(inserted.retryAt, now);
    if (inserted.kind === 'inserted') {
      const flowView = toFlowView(parts, flow, server.name, payload);
      return { flow: flowView, isJoined: false, ...(browserSecret !== undefined && { browserSecret }) };
    }
    const concurrentFlow = await joinFlow(parts, inserted.flow, server, request);
    if (concurrentFlow) return concurrentFlow;
  }
  throw new GatewayError('MCP_FLOW_PENDING');
}

async function requireCapacity(
  { flows, clock }: OAuthFlowParts,
  { tenant, userId }: UserPrincipal,
): Promise<void> {
  const now = clock.now();
  const retryAt = await flows.getRetryAt(tenant, userId, FLOW_LIMITS, now);
  if (retryAt !== null) throw flowLimitError(retryAt, now);
}

function flowLimitError(retryAt: number, now: number): GatewayError {
  return new GatewayError('MCP_FLOW_LIMIT', { retryAfterMs: Math.max(1_000, retryAt - now) });
}

type FlowRequest = StartOptions & { readonly label: string };

/**
 * One that was handed out to no browser yet becomes that of the first browser of its user which asks for it. Undefined: it was
 * for something else, nobody had left with it, and it is over. One for something else that somebody left with is told of, and
 * stays theirs.
 */
async function joinFlow(
  parts: OAuthFlowParts,
  pending: OAuthFlowRecord,
  server: AllowedServer,
  request: FlowRequest,
): Promise<StartedFlow | undefined> {
  const { bindsBrowser = false } = request;
  const payload = openPayload(parts.keyring, pending);
  const joined = { flow: toFlowView(parts, pending, server.name, payload), isJoined: true };
  if (!coversRequest(payload, request)) {
    const isCancelled = await endFlow(parts, pending, {
      ...{ from: ['created'], status: 'cancelled', error: 'cancelled' },
    });
    return isCancelled ? undefined : joined;
  }
  if (!bindsBrowser || pending.browserHash !== null) return joined;
  const browserSecret = createFlowSecret(parts.random);
  const boundFlow = await parts.flows.transition(
    pending.id,
    { status: ['created'], userId: pending.userId, now: parts.clock.now() },
    { browserHash: hashFlowSecret(browserSecret) },
  );
  return boundFlow ? { ...joined, browserSecret } : joined;
}

/** For the same credential, and reaching and proving all that is asked for now. */
function coversRequest({ label, scopes, claims }: FlowPayload, request: FlowRequest): boolean {
  const flowScopes = scopeList(scopes);
  return (
    label === request.label &&
    scopeList(request.widenedScopes ?? '').every((scope) => flowScopes.includes(scope)) &&
    (request.claims === undefined || claims === request.claims)
  );
}

/** Everything that can go wrong before a browser is involved goes wrong here. */
async function preparePayload(
  parts: OAuthFlowParts,
  server: AllowedServer,
  principal: UserPrincipal,
  request: FlowRequest,
  previous: CredentialRecord | undefined,
): Promise<FlowPayload> {
  const { tenant } = principal;
  const holder = credentialHolder(principal);
  const { label, challenge, widenedScopes, claims } = request;
  const target = await resolveSignInTarget(parts.servers, server, { tenant, holder });
  if (!target) throw new SignInImpossible('not_fillable');
  const { asMetadata, resource, requiresConfirmation, challengedScope, publishedScopes, usesDpop } =
    await parts.discovery.discover(target, challenge);
  if (asMetadata.authorizationEndpoint === null) throw new SignInImpossible('metadata_invalid');
  const scopes = chooseScopes({
    configured: target.oauth.scope,
    challenged: challengedScope,
    published: publishedScopes,
    supported: asMetadata.scopes,
    // All that was asked for before, too: the new grant takes the place of the old one.
    additional:
      widenedScopes === undefined ? undefined : `${widenedScopes} ${previous?.scopesRequested ?? ''}`,
  });
  requireAudience(target, resource, scopes);
  const client = await obtainClient(parts, { tenant, target, issuer: asMetadata.issuer, asMetadata }, scopes);
  return {
    definitionRevision: server.revision,
    label,
    returnTo: toReturnPath(request.returnTo),
    canonicalUrl: target.canonicalUrl,
    issuer: asMetadata.issuer,
    hasIssuerIdentifier: asMetadata.hasIssuerIdentifier,
    isIssParameterSupported: asMetadata.isIssParameterSupported,
    endpoints: {
      authorization: asMetadata.authorizationEndpoint,
      token: asMetadata.tokenEndpoint,
      revocation: asMetadata.revocationEndpoint,
      jwks: asMetadata.jwksUri,
    },
    metadataFetchedAt: asMetadata.fetchedAt,
    clientId: client.clientId,
    clientSource: client.source,
    clientAuth: client.auth.method,
    redirectUri: parts.clients.clientUrls(target).redirectUri,
    resource,
    scopes,
    claims,
    requiresConfirmation,
    baseGeneration: previous?.generation ?? 0,
    usesDpop,
  };
}

/** What fails is what is renewed: a sign-in that says nothing of a label is for the one that calls are made with. */
function selectLabel(credentials: readonly CredentialRecord[], now: number): string {
  const selected = selectCredential(credentials, now);
  return selected?.kind === 'oauth_code' && selected.status !== 'revoked' ? selected.label : DEFAULT_LABEL;
}

/** Where nobody registers us any more, the next sign-in looks for another place. */
async function obtainClient(
  { clients, discovery }: OAuthFlowParts,
  clientUse: ClientUse,
  scopes: string,
): Promise<OAuthClient> {
  try {
    return await clients.obtain(clientUse, scopes);
  } catch (error) {
    if (error instanceof SignInImpossible) discovery.forget(clientUse.issuer);
    throw error;
  }
}

/** A server that is never content would send its user round in circles. */
async function limitStepUps(
  { attempts, clock }: OAuthFlowParts,
  server: AllowedServer,
  { tenant, userId }: UserPrincipal,
  { widenedScopes }: StartOptions,
): Promise<void> {
  if (widenedScopes === undefined) return;
  const key = `oauth-stepup:${JSON.stringify([tenant, userId, server.id, widenedScopes.split(' ').sort()])}`;
  const { count, resetAt } = await attempts.hit(key, STEP_UP_WINDOW_MS);
  if (count <= MAX_STEP_UPS) return;
  throw new GatewayError('MCP_FLOW_LIMIT', {
    detail:
      'The server requested the same permissions again after a new sign-in. Another sign-in will probably not help.',
    retryAfterMs: Math.max(1_000, resetAt - clock.now()),
  });
}

/** The address is ours, holds no secret and works for this user alone. */
function toFlowView(
  { baseUrl }: Pick<OAuthFlowParts, 'baseUrl'>,
  flow: OAuthFlowRecord,
  serverName: string,
  { label }: Pick<FlowPayload, 'label'>,
): FlowView {
  const query = new URLSearchParams({ flowId: flow.id }).toString();
  return {
    flowId: flow.id,
    connectUrl: `${baseUrl()}/api/mcp/${encodeURIComponent(serverName)}/oauth/initiate?${query}`,
    expiresAt: flow.expiresAt,
    label,
  };
}
