import { type FlowError, parseUrl } from '@behalf/contracts';
import { HiddenText } from '@behalf/kernel';
import { type AuditEvent, actorOf } from '../../audit/audit.ts';
import type { CredentialKey, OAuthFlowRecord } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { credentialHolder } from '../credentialKeys.ts';
import { type Prover, toWireToken } from '../oauth/dpop.ts';
import { withoutRedirects } from '../oauth/network.ts';
import { type SignInTarget, resolveSignInTarget } from '../oauth/signInTarget.ts';
import { type TokenEndpointResult, type TokenSet, requestTokens } from '../oauth/tokenEndpoint.ts';
import {
  type FlowPayload,
  MAX_EXCHANGE_MS,
  type OAuthFlowParts,
  type ProbeResult,
  endFlow,
  hashFlowSecret,
  matchesFlowSecret,
  openPayload,
} from './flow.ts';
import { probeToken, storeGrant } from './storeGrant.ts';

export interface CallbackRequest {
  /** Of the path. */
  readonly serverName: string;
  readonly query: URLSearchParams;
  /** Who is signed in in this browser. */
  readonly principal: UserPrincipal | null;
  /** What its cookie of a flow holds. */
  readonly browserSecretOf: (flowId: string) => string | null;
}

export interface CallbackResult {
  readonly ok: boolean;
  readonly error?: FlowError;
  /** Only to its owner, in their browser. */
  readonly flowId?: string;
  readonly returnTo?: string;
}

/** The end of a sign-in: what the authorization server sent back. In this order, and in no other. */
export async function finishFlow(parts: OAuthFlowParts, request: CallbackRequest): Promise<CallbackResult> {
  const parameters = readCallback(request.query);
  if (typeof parameters === 'string') return { ok: false, error: parameters };
  const claimed = await claimFlow(parts, request, parameters);
  if (typeof claimed === 'string') return { ok: false, error: claimed };
  const { flow, principal } = claimed;
  const payload = openPayload(parts.keyring, flow);
  let outcome: FlowError | ProbeResult;
  try {
    outcome = await completeFlow(parts, { ...claimed, payload, parameters });
  } catch (error) {
    parts.log('oauth_callback_failed', { server: request.serverName, reason: errorName(error) });
    outcome = 'callback_failed';
  }
  const probeResult = isProbeResult(outcome) ? outcome : undefined;
  const error = probeResult === 'refused' ? 'probe_refused' : isProbeResult(outcome) ? undefined : outcome;
  await endFlow(parts, flow, {
    from: ['exchanging'],
    status: error === undefined ? 'approved' : 'failed',
    ...(error !== undefined && { error }),
    payload: withoutSecrets(payload, probeResult),
  });
  parts.audit.note(toConnectEvent(principal, request.serverName, flow, error));
  const flowReference = { flowId: flow.id, returnTo: payload.returnTo };
  return error === undefined ? { ok: true, ...flowReference } : { ok: false, error, ...flowReference };
}

interface ClaimedFlow {
  readonly flow: OAuthFlowRecord;
  readonly principal: UserPrincipal;
}

/** One callback, of the right user in the right browser, gets it. What is not theirs is left as it was. */
async function claimFlow(
  { flows, servers, clock, changes }: OAuthFlowParts,
  { serverName, principal, browserSecretOf }: CallbackRequest,
  { state }: CallbackParameters,
): Promise<ClaimedFlow | FlowError> {
  const stateHash = hashFlowSecret(state);
  const flow = await flows.findByState(stateHash);
  const now = clock.now();
  if (!flow || now >= flow.removeAt) return 'flow_unknown';
  if ((await servers.get(flow.tenant, flow.serverId))?.name !== serverName) return 'invalid_state';
  const isOwner = principal?.tenant === flow.tenant && principal.userId === flow.userId;
  if (!isOwner || !matchesFlowSecret(flow.browserHash, browserSecretOf(flow.id))) return 'flow_forbidden';
  if (flow.status !== 'opened') return 'flow_used';
  if (now >= flow.expiresAt) return 'flow_unknown';
  const claimedFlow = await flows.transition(
    flow.id,
    {
      status: ['opened'],
      stateHash,
      ...(flow.browserHash !== null && { browserHash: flow.browserHash }),
      userId: principal.userId,
      now,
    },
    // A process that dies meanwhile keeps its user from beginning anew no longer than this.
    { status: 'exchanging', expiresAt: Math.min(flow.expiresAt, now + MAX_EXCHANGE_MS) },
  );
  if (!claimedFlow) return 'flow_used';
  await changes.publish({ topic: 'oauthFlows', id: flow.id });
  return { flow: claimedFlow, principal };
}

interface CompletionInput extends ClaimedFlow {
  readonly payload: FlowPayload;
  readonly parameters: CallbackParameters;
}

/** What the server makes of the new token, or why there is none. */
async function completeFlow(parts: OAuthFlowParts, input: CompletionInput): Promise<FlowError | ProbeResult> {
  const { flow, principal, payload, parameters } = input;
  // Mix-up: an error of somebody else is neither acted on nor shown.
  if (!isFromIssuer(parameters.iss, payload)) return 'issuer_mismatch';
  if (parameters.error !== null) return toFlowError(parameters.error);
  if (parameters.code === null) return 'missing_code';
  const target = await currentTarget(parts, flow, payload);
  if (!target) return 'config_changed';
  const dpopKey = payload.dpopKey === undefined ? undefined : new HiddenText(payload.dpopKey);
  const prover = dpopKey && parts.dpop.proverFor(dpopKey);
  const result = await exchangeCode(parts, flow, payload, target, { code: parameters.code, prover });
  if (typeof result === 'string') return result;
  const { tokens, sentAt } = result;
  if (!isAcceptedTokenType(tokens, prover, target)) return 'token_exchange_failed';
  const key: CredentialKey = {
    tenant: flow.tenant,
    principal: credentialHolder(principal),
    serverId: flow.serverId,
    kind: 'oauth_code',
    label: payload.label,
  };
  // First of all: whatever fails later, the grant is not lost.
  const committed = await storeGrant(parts, {
    ...key,
    binding: {
      canonicalUrl: payload.canonicalUrl,
      issuer: payload.issuer,
      clientId: payload.clientId,
      resource: payload.resource,
    },
    endpoints: {
      token: payload.endpoints.token,
      revocation: payload.endpoints.revocation,
      authorization: payload.endpoints.authorization,
      fetchedAt: payload.metadataFetchedAt,
      clientAuth: payload.clientAuth,
    },
    tokens,
    sentAt,
    scopesRequested: payload.scopes,
    baseGeneration: payload.baseGeneration,
    dpopKey,
  });
  if (committed.kind === 'superseded') return 'superseded';
  if (tokens.idToken !== undefined) {
    // Loaded when the first one comes: most servers give none, and a default start stays without it.
    const { checkIdToken } = await import('./checkIdToken.ts');
    await checkIdToken(parts, tokens.idToken, payload, target);
  }
  const { accessToken, tokenType } = tokens;
  return probeToken(parts, target.server, principal, {
    key,
    token: toWireToken({ accessToken, prover: tokenType === 'dpop' ? prover : undefined }),
    canonicalUrl: payload.canonicalUrl,
  });
}

/** Undefined: the definition is not the one that the sign-in was begun for, so that the code is not redeemed. */
async function currentTarget(
  { servers }: OAuthFlowParts,
  { tenant, serverId, userId }: OAuthFlowRecord,
  payload: FlowPayload,
): Promise<SignInTarget | undefined> {
  const server = await servers.get(tenant, serverId);
  if (server?.revision !== payload.definitionRevision) return undefined;
  const target = await resolveSignInTarget(servers, server, { tenant, holder: credentialHolder({ userId }) });
  return target?.canonicalUrl === payload.canonicalUrl ? target : undefined;
}

async function exchangeCode(
  { clients, discovery, network, clock, random, log }: OAuthFlowParts,
  { tenant }: OAuthFlowRecord,
  payload: FlowPayload,
  target: SignInTarget,
  { code, prover }: { readonly code: string; readonly prover: Prover | undefined },
): Promise<Extract<TokenEndpointResult, { kind: 'tokens' }> | FlowError> {
  const { issuer, clientId, redirectUri, resource, codeVerifier = '' } = payload;
  const clientUse = { tenant, target, issuer };
  const client = await clients.resolveClient(
    { ...clientUse, asMetadata: { authMethods: [payload.clientAuth] } },
    clientId,
  );
  if (client.clientId !== clientId) return 'config_changed';
  const result = await requestTokens({
    endpoint: payload.endpoints.token,
    issuer,
    client,
    form: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
      ...(resource !== null && { resource }),
    },
    headers: target.headers,
    fetch: withoutRedirects(network.fetchFor(target, issuer)),
    readError: network.readError,
    clock,
    random,
    prover,
  });
  if (result.kind === 'tokens') return result;
  log('oauth_code_exchange_failed', { server: target.server.name, reason: result.kind });
  // The code is spent. The next sign-in finds no dead client in its way; one that is configured stays.
  if (result.kind === 'client_refused') await clients.forget(clientUse, client);
  if (result.kind === 'moved') discovery.forget(issuer);
  if (result.kind === 'rejected') return 'code_refused';
  return result.kind === 'unavailable' ? 'temporarily_unavailable' : 'token_exchange_failed';
}

/** A token that is bound to a key we do not have is of no use, and one that is bound to none is not what the operator wants. */
function isAcceptedTokenType(
  { tokenType }: TokenSet,
  prover: Prover | undefined,
  { oauth }: SignInTarget,
): boolean {
  return tokenType === 'dpop' ? prover !== undefined : oauth.raw.dpop !== 'require';
}

/** What is over needs none any more. */
function withoutSecrets(
  { codeVerifier: _codeVerifier, nonce: _nonce, dpopKey: _dpopKey, ...rest }: FlowPayload,
  probeResult: ProbeResult | undefined,
): FlowPayload {
  return { ...rest, ...(probeResult && { probeResult }) };
}

const PROBE_RESULTS: readonly string[] = [
  'ok',
  'unverified',
  'unreachable',
  'refused',
] satisfies ProbeResult[];

function isProbeResult(outcome: FlowError | ProbeResult): outcome is ProbeResult {
  return PROBE_RESULTS.includes(outcome);
}

function toConnectEvent(
  principal: UserPrincipal,
  server: string,
  { serverId }: OAuthFlowRecord,
  error: FlowError | undefined,
): AuditEvent {
  return {
    kind: 'credential',
    action: 'oauth.connect',
    tenant: principal.tenant,
    actor: actorOf(principal),
    door: 'browser',
    outcome: error === undefined ? 'ok' : 'failed',
    ...(error !== undefined && { code: error }),
    server,
    serverId,
  };
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** What an authorization server sends back through the browser. */
interface CallbackParameters {
  readonly state: string;
  readonly code: string | null;
  readonly error: string | null;
  readonly iss: string | null;
}

const CALLBACK_PARAMETERS = ['state', 'code', 'error', 'error_description', 'error_uri', 'iss'] as const;

/** A parameter that comes twice has two readers who disagree (RFC 6749, section 3.1): nothing of it is believed. */
function readCallback(query: URLSearchParams): CallbackParameters | FlowError {
  if (CALLBACK_PARAMETERS.some((name) => query.getAll(name).length > 1)) return 'callback_failed';
  const state = query.get('state');
  if (state === null || state === '') return 'missing_state';
  return { state, code: query.get('code') || null, error: query.get('error') || null, iss: query.get('iss') };
}

/**
 * RFC 9207: whoever says that it names itself does so each time, and whatever name comes is compared letter by letter. Where the
 * definition gives endpoints and no name, it must at least be one of the same place.
 */
function isFromIssuer(
  iss: string | null,
  {
    issuer,
    hasIssuerIdentifier,
    isIssParameterSupported,
  }: {
    readonly issuer: string;
    readonly hasIssuerIdentifier: boolean;
    readonly isIssParameterSupported: boolean;
  },
): boolean {
  if (iss === null) return !isIssParameterSupported;
  if (hasIssuerIdentifier) return iss === issuer;
  return parseUrl(iss)?.origin === new URL(issuer).origin;
}

/** RFC 6749, section 4.1.2.1, and OpenID Connect. Everything else is a text of somebody else and is not repeated. */
const KNOWN_ERRORS: ReadonlyMap<string, FlowError> = new Map<string, FlowError>([
  ['access_denied', 'access_denied'],
  ['consent_required', 'access_denied'],
  ['server_error', 'server_error'],
  ['temporarily_unavailable', 'temporarily_unavailable'],
  ['invalid_scope', 'invalid_scope'],
]);

function toFlowError(error: string): FlowError {
  return KNOWN_ERRORS.get(error) ?? 'provider_error';
}
