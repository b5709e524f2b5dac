import { type FlowError, parseUrl } from '@behalf/contracts';
import { HiddenText } from '@behalf/kernel';
import { actorOf } from '../../audit/audit.ts';
import type { CredentialKey, OAuthFlowRecord } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { credentialHolder } from '../../principal/credentialHolder.ts';
import { type Prover, toWireToken } from '../oauth/dpop.ts';
import { withoutRedirects } from '../oauth/network.ts';
import type { SignInTarget } from '../oauth/signInTarget.ts';
import { type TokenEndpointResult, requestTokens } from '../oauth/tokenEndpoint.ts';
import { errorName } from '../vault/vault.ts';
import {
  type FlowPayload,
  MAX_EXCHANGE_MS,
  type OAuthFlowParts,
  type ProbeResult,
  endFlow,
  findUnchangedTarget,
  hashFlowSecret,
  matchesFlowSecret,
  openPayload,
} from './flow.ts';
import { probeToken, storeGrant } from './storeGrant.ts';

export interface CallbackRequest {
  /** From the path. */
  readonly serverName: string;
  readonly query: URLSearchParams;
  /** The user who is signed in in this browser. */
  readonly principal: UserPrincipal | null;
  /** Reads the browser's cookie of a flow. */
  readonly browserSecretOf: (flowId: string) => string | null;
}

export interface CallbackResult {
  readonly ok: boolean;
  readonly error?: FlowError;
  /** Only for the owner of the flow, in the browser of the flow. */
  readonly flowId?: string;
  readonly returnTo?: string;
}

/** Handles the redirect from the authorization server. The order of the checks is part of the security. */
export async function finishFlow(parts: OAuthFlowParts, request: CallbackRequest): Promise<CallbackResult> {
  const parameters = readCallback(request.query);
  if (typeof parameters === 'string') return { ok: false, error: parameters };
  const claimed = await claimFlow(parts, request, parameters);
  if (typeof claimed === 'string') return { ok: false, error: claimed };
  const { flow, principal } = claimed;
  const { serverName } = request;
  const payload = openPayload(parts.keyring, flow);
  let completion: Completion;
  try {
    completion = await completeFlow(parts, { ...claimed, payload, parameters });
  } catch (thrown) {
    parts.log('oauth_callback_failed', { server: serverName, reason: errorName(thrown) });
    completion = { error: 'callback_failed' };
  }
  const { probeResult, error = probeResult === 'refused' ? 'probe_refused' : undefined } = completion;
  await endFlow(parts, flow, {
    from: ['exchanging'],
    status: error === undefined ? 'approved' : 'failed',
    ...(error !== undefined && { error }),
    payload: withoutSecrets(payload, probeResult),
  });
  parts.audit.note({
    kind: 'credential',
    action: 'oauth.connect',
    tenant: principal.tenant,
    actor: actorOf(principal),
    door: 'browser',
    outcome: error === undefined ? 'ok' : 'failed',
    ...(error !== undefined && { code: error }),
    ...{ server: serverName, serverId: flow.serverId },
  });
  const flowReference = { flowId: flow.id, returnTo: payload.returnTo };
  return error === undefined ? { ok: true, ...flowReference } : { ok: false, error, ...flowReference };
}

interface ClaimedFlow {
  readonly flow: OAuthFlowRecord;
  readonly principal: UserPrincipal;
}

/**
 * Claims the flow for one callback: of the right user, in the right browser, with the right `state`. A callback that
 * fails a check does not change the flow.
 */
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
    // If this process dies, the user can start again after this time.
    { status: 'exchanging', expiresAt: Math.min(flow.expiresAt, now + MAX_EXCHANGE_MS) },
  );
  if (!claimedFlow) return 'flow_used';
  await changes.publish({ topic: 'oauthFlows', id: flow.id });
  return { flow: claimedFlow, principal };
}

interface Completion {
  readonly error?: FlowError;
  /** Set if the grant was stored. */
  readonly probeResult?: ProbeResult;
}

interface CompletionInput extends ClaimedFlow {
  readonly payload: FlowPayload;
  readonly parameters: CallbackParameters;
}

/** Exchanges the code, stores the grant and probes the server with the new token. */
async function completeFlow(parts: OAuthFlowParts, input: CompletionInput): Promise<Completion> {
  const { flow, principal, payload, parameters } = input;
  // Mix-up attack (RFC 9207): ignore also the error of another issuer.
  if (!isFromIssuer(parameters.iss, payload)) return { error: 'issuer_mismatch' };
  if (parameters.error !== null) return { error: KNOWN_ERRORS.get(parameters.error) ?? 'provider_error' };
  if (parameters.code === null) return { error: 'missing_code' };
  const target = await findUnchangedTarget(parts.servers, flow, payload);
  if (!target) return { error: 'config_changed' };
  const dpopKey = payload.dpopKey === undefined ? undefined : new HiddenText(payload.dpopKey);
  const prover = dpopKey && parts.dpop.proverFor(dpopKey);
  const result = await exchangeCode(parts, flow, payload, target, { code: parameters.code, prover });
  if (typeof result === 'string') return { error: result };
  const { tokens, sentAt } = result;
  const { accessToken, tokenType, idToken } = tokens;
  const isDpop = tokenType === 'dpop';
  // A DPoP-bound token needs our key. With `dpop: require`, a bearer token is not acceptable.
  if (isDpop ? !prover : target.oauth.raw.dpop === 'require') return { error: 'token_exchange_failed' };
  const key: CredentialKey = {
    tenant: flow.tenant,
    principal: credentialHolder(principal),
    serverId: flow.serverId,
    kind: 'oauth_code',
    label: payload.label,
  };
  // Store first: no later failure may lose the grant.
  const committed = await storeGrant(parts, { ...key, ...payload.grant, tokens, sentAt, dpopKey });
  if (committed.kind === 'superseded') return { error: 'superseded' };
  if (idToken !== undefined) {
    // Imported on first use: most servers return no ID token, and the module slows down the start.
    const { checkIdToken } = await import('./checkIdToken.ts');
    await checkIdToken(parts, idToken, payload, target);
  }
  const token = toWireToken({ accessToken, prover: isDpop ? prover : undefined });
  const { canonicalUrl } = payload.grant.binding;
  return { probeResult: await probeToken(parts, target.server, principal, { key, token, canonicalUrl }) };
}

async function exchangeCode(
  { clients, discovery, network, clock, random, log }: OAuthFlowParts,
  { tenant }: OAuthFlowRecord,
  payload: FlowPayload,
  target: SignInTarget,
  { code, prover }: { readonly code: string; readonly prover: Prover | undefined },
): Promise<Extract<TokenEndpointResult, { kind: 'tokens' }> | FlowError> {
  const { grant, redirectUri, codeVerifier = '' } = payload;
  const { issuer, clientId, resource } = grant.binding;
  const clientUse = { tenant, target, issuer };
  const client = await clients.resolveClient(
    { ...clientUse, asMetadata: { authMethods: [grant.endpoints.clientAuth] } },
    clientId,
  );
  if (client.clientId !== clientId) return 'config_changed';
  const result = await requestTokens({
    endpoint: grant.endpoints.token,
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
    ...{ clock, random, prover },
  });
  if (result.kind === 'tokens') return result;
  log('oauth_code_exchange_failed', { server: target.server.name, reason: result.kind });
  // A refused dynamic client is deleted, so that the next sign-in registers a new one. A configured one stays.
  if (result.kind === 'client_refused') await clients.forget(clientUse, client);
  if (result.kind === 'moved') discovery.forget(issuer);
  if (result.kind === 'rejected') return 'code_refused';
  return result.kind === 'unavailable' ? 'temporarily_unavailable' : 'token_exchange_failed';
}

function withoutSecrets(
  { codeVerifier: _codeVerifier, nonce: _nonce, dpopKey: _dpopKey, ...rest }: FlowPayload,
  probeResult: ProbeResult | undefined,
): FlowPayload {
  return { ...rest, ...(probeResult && { probeResult }) };
}

/** The parameters of an authorization response. */
interface CallbackParameters {
  readonly state: string;
  readonly code: string | null;
  readonly error: string | null;
  readonly iss: string | null;
}

const CALLBACK_PARAMETERS = ['state', 'code', 'error', 'error_description', 'error_uri', 'iss'] as const;

/** Rejects repeated parameters (RFC 6749, section 3.1): two readers could choose different values. */
function readCallback(query: URLSearchParams): CallbackParameters | FlowError {
  if (CALLBACK_PARAMETERS.some((name) => query.getAll(name).length > 1)) return 'callback_failed';
  const state = query.get('state');
  if (state === null || state === '') return 'missing_state';
  return { state, code: query.get('code') || null, error: query.get('error') || null, iss: query.get('iss') };
}

/**
 * RFC 9207: an issuer that supports `iss` must send it, and the value must be identical. If the definition contains
 * endpoints without an issuer identifier, only the origin is compared.
 */
function isFromIssuer(
  iss: string | null,
  { grant, hasIssuerIdentifier, isIssParameterSupported }: FlowPayload,
): boolean {
  if (iss === null) return !isIssParameterSupported;
  const { issuer } = grant.binding;
  if (hasIssuerIdentifier) return iss === issuer;
  return parseUrl(iss)?.origin === new URL(issuer).origin;
}

/** RFC 6749, section 4.1.2.1, and OpenID Connect. Other texts are not repeated to the user. */
const KNOWN_ERRORS: ReadonlyMap<string, FlowError> = new Map<string, FlowError>([
  ['access_denied', 'access_denied'],
  ['consent_required', 'access_denied'],
  ['server_error', 'server_error'],
  ['temporarily_unavailable', 'temporarily_unavailable'],
  ['invalid_scope', 'invalid_scope'],
]);
