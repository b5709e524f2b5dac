import { type FlowView, scopeList } from '@behalf/contracts';
import type { AllowedServer } from '../../access/allowedServer.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { toReturnPath } from '../../identity/openid/returnPath.ts';
import type { CredentialRecord, OAuthFlowRecord } from '../../ports/index.ts';
import type { Principal, UserPrincipal } from '../../principal/principal.ts';
import { mayRequireOAuth } from '../../definitions/definition.ts';
import type { Challenge } from '../../upstream/upstreamError.ts';
import { credentialHolder } from '../../principal/credentialHolder.ts';
import { selectCredential } from '../credentialSelector.ts';
import type { OAuthClient } from '../oauth/clientAuthentication.ts';
import type { ClientUse } from '../oauth/clients.ts';
import { toCredentialEndpoints } from '../oauth/grantContext.ts';
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

/** Attempts to insert the flow while other requests of the same user start or cancel one. */
const MAX_ATTEMPTS = 3;
const MAX_STEP_UPS = 2;
const STEP_UP_WINDOW_MS = 60 * 60 * 1000;

export interface StartOptions {
  /** The path of the web interface to return to. */
  readonly returnTo?: string | undefined;
  /** The label of the credential. Default: the one in use. */
  readonly label?: string | undefined;
  /** The `WWW-Authenticate` challenge of the server. */
  readonly challenge?: Challenge | undefined;
  /** Scopes to add to those of the existing credential (step-up). */
  readonly widenedScopes?: string | undefined;
  /** A claims request, as JSON text. */
  readonly claims?: string | undefined;
  /** The browser of this request will follow the redirect: bind the flow to it. */
  readonly bindsBrowser?: boolean | undefined;
}

export interface StartedFlow {
  readonly flow: FlowView;
  /** The user had already started a sign-in at this server. */
  readonly isJoined: boolean;
  /** The cookie value for the browser that the flow is bound to. */
  readonly browserSecret?: string;
}

type FlowRequest = StartOptions & { readonly label: string };

/** Starts a sign-in of a user at a server, or joins the pending one. */
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
  // Check the limits before any request to other servers.
  const retryAt = await flows.getRetryAt(tenant, userId, FLOW_LIMITS, clock.now());
  if (retryAt !== null) throw createLimitError(retryAt, clock.now());
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
    // Not before the latest possible end of the flow.
    removeAt: now + Math.max(retentionMs, pendingMs + MAX_EXCHANGE_MS),
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const inserted = await flows.insert(flow, FLOW_LIMITS, now);
    if (inserted.kind === 'too_many') throw createLimitError(inserted.retryAt, now);
    if (inserted.kind === 'inserted') {
      const flowView = toFlowView(parts, flow, server.name, payload);
      return { flow: flowView, isJoined: false, ...(browserSecret !== undefined && { browserSecret }) };
    }
    const concurrentFlow = await joinFlow(parts, inserted.flow, server, request);
    if (concurrentFlow) return concurrentFlow;
  }
  throw new GatewayError('MCP_FLOW_PENDING');
}

function createLimitError(retryAt: number, now: number, detail?: string): GatewayError {
  const retryAfterMs = Math.max(1_000, retryAt - now);
  return new GatewayError('MCP_FLOW_LIMIT', { retryAfterMs, ...(detail !== undefined && { detail }) });
}

/**
 * Joins the pending flow. A flow without a browser is bound to the first browser of the user that requests it.
 * Undefined: the pending flow was for another request, no browser had followed it, and it is cancelled now. If a
 * browser did follow it, the user finishes it first.
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
    const outcome = { from: ['created'], status: 'cancelled', error: 'cancelled' } as const;
    return (await endFlow(parts, pending, outcome)) ? undefined : joined;
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

/** Whether the flow is for the same credential and requests at least these scopes and claims. */
function coversRequest({ label, grant, claims }: FlowPayload, request: FlowRequest): boolean {
  const flowScopes = scopeList(grant.scopesRequested);
  return (
    label === request.label &&
    scopeList(request.widenedScopes ?? '').every((scope) => flowScopes.includes(scope)) &&
    (request.claims === undefined || claims === request.claims)
  );
}

/** Discovery, scopes and client registration. All errors of a sign-in that need no browser occur here. */
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
  const { issuer, authorizationEndpoint, jwksUri, hasIssuerIdentifier, isIssParameterSupported } = asMetadata;
  if (authorizationEndpoint === null) throw new SignInImpossible('metadata_invalid');
  const scopes = chooseScopes({
    configured: target.oauth.scope,
    challenged: challengedScope,
    published: publishedScopes,
    supported: asMetadata.scopes,
    // The new grant replaces the old one, so it must include the old scopes.
    additional:
      widenedScopes === undefined ? undefined : `${widenedScopes} ${previous?.scopesRequested ?? ''}`,
  });
  requireAudience(target, resource, scopes);
  const client = await obtainClient(parts, { tenant, target, issuer, asMetadata }, scopes);
  return {
    definitionRevision: server.revision,
    label,
    returnTo: toReturnPath(request.returnTo),
    grant: {
      binding: { canonicalUrl: target.canonicalUrl, issuer, clientId: client.clientId, resource },
      endpoints: { ...toCredentialEndpoints(asMetadata), clientAuth: client.auth.method },
      scopesRequested: scopes,
      baseGeneration: previous?.generation ?? 0,
    },
    ...{ authorizationEndpoint, jwksUri, hasIssuerIdentifier, isIssParameterSupported },
    redirectUri: parts.clients.clientUrls(target).redirectUri,
    ...{ claims, requiresConfirmation, usesDpop },
  };
}

/** Without a requested label, the sign-in renews the credential that calls use. */
function selectLabel(credentials: readonly CredentialRecord[], now: number): string {
  const selected = selectCredential(credentials, now);
  return selected?.kind === 'oauth_code' && selected.status !== 'revoked' ? selected.label : DEFAULT_LABEL;
}

/** If the authorization server refuses registration, the next sign-in runs discovery again. */
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

/** A server that requests the same scopes after each sign-in must not send its users into a loop. */
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
  throw createLimitError(
    resetAt,
    clock.now(),
    'The server requested the same permissions again after a new sign-in. Another sign-in will probably not help.',
  );
}

/** The URL is the gateway's, contains no secret and works only for this user. */
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
