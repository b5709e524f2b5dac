import { scopeList } from '@behalf/contracts';
import { HiddenText, type SealContext } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { OAuthFlowRecord } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { getHost, getOrigin } from '../oauth/addresses.ts';
import { createDpopKey, parseDpopKey } from '../oauth/dpop.ts';
import { includesOfflineAccess } from '../oauth/scopes.ts';
import type { SignInTarget } from '../oauth/signInTarget.ts';
import {
  type FlowPayload,
  type OAuthFlowParts,
  PENDING_STATUSES,
  createFlowSecret,
  endFlow,
  findUnchangedTarget,
  hashFlowSecret,
  matchesFlowSecret,
  openPayload,
  sealPayload,
} from './flow.ts';

export interface OpenRequest {
  readonly flowId: string;
  readonly serverName: string;
  readonly principal: UserPrincipal;
  /** The value of the browser's cookie for this flow. */
  readonly browserSecret: string | null;
}

export interface FlowRedirect {
  readonly kind: 'leave';
  readonly url: string;
  /** The new value of the browser's cookie. The callback requires it. */
  readonly browserSecret: string;
  readonly expiresAt: number;
}

export type OpenFlowResult =
  | FlowRedirect
  /** The user must confirm the sign-in. */
  | {
      readonly kind: 'ask';
      readonly serverName: string;
      readonly title: string;
      readonly serverHost: string;
      readonly authorizationHost: string;
      readonly authorizationOrigin: string;
      /** The server and the authorization server appear to belong to different operators. */
      readonly isThirdParty: boolean;
      /** Must be returned with the confirmation. */
      readonly token: string;
    };

/** The connect page: redirects the browser that started the flow, otherwise asks for a confirmation. */
export async function openFlow(parts: OAuthFlowParts, request: OpenRequest): Promise<OpenFlowResult> {
  const { flow, payload, target } = await findPendingFlow(parts, request);
  if (!payload.requiresConfirmation && matchesFlowSecret(flow.browserHash, request.browserSecret)) {
    return startRedirect(parts, flow, payload, target);
  }
  return {
    kind: 'ask',
    serverName: target.server.name,
    title: target.server.settings.title ?? target.server.name,
    serverHost: getHost(payload.grant.binding.canonicalUrl),
    authorizationHost: getHost(payload.authorizationEndpoint),
    authorizationOrigin: getOrigin(payload.authorizationEndpoint),
    isThirdParty: payload.requiresConfirmation,
    token: parts.keyring.mac(confirmationInput(request), confirmationContext(request.principal)),
  };
}

/** Confirms the sign-in. `token` comes from the connect page, for this flow and this login session. */
export async function confirmFlow(
  parts: OAuthFlowParts,
  request: OpenRequest & { readonly token: string },
): Promise<FlowRedirect> {
  const { flow, payload, target } = await findPendingFlow(parts, request);
  const context = confirmationContext(request.principal);
  if (!parts.keyring.verifyMac(confirmationInput(request), request.token, context))
    throw new GatewayError('CSRF_REFUSED');
  return startRedirect(parts, flow, payload, target);
}

/** Binds the pending flow to the browser of this request, in which the user is signed in. */
export async function bindFlow(
  { flows, clock, random }: OAuthFlowParts,
  serverId: string,
  { tenant, userId }: UserPrincipal,
): Promise<{ readonly flowId: string; readonly browserSecret: string; readonly expiresAt: number }> {
  const now = clock.now();
  const pending = await flows.findPending(tenant, userId, serverId, now);
  const browserSecret = createFlowSecret(random);
  const boundFlow =
    pending &&
    (await flows.transition(
      pending.id,
      { status: PENDING_STATUSES, userId, now },
      { browserHash: hashFlowSecret(browserSecret) },
    ));
  if (!boundFlow) throw new GatewayError('MCP_FLOW_NOT_FOUND');
  return { flowId: boundFlow.id, browserSecret, expiresAt: boundFlow.expiresAt };
}

/** Checks the owner first: the sign-in link of another user never leads to the authorization server. */
async function findPendingFlow(
  parts: OAuthFlowParts,
  { flowId, serverName, principal: { tenant, userId } }: OpenRequest,
): Promise<{ flow: OAuthFlowRecord; payload: FlowPayload; target: SignInTarget }> {
  const { flows, servers, clock, keyring } = parts;
  const flow = await flows.find(flowId);
  if (!flow) throw new GatewayError('MCP_FLOW_NOT_FOUND');
  if (flow.tenant !== tenant || flow.userId !== userId) throw new GatewayError('MCP_FLOW_FORBIDDEN');
  const isPending = (flow.status === 'created' || flow.status === 'opened') && clock.now() < flow.expiresAt;
  if (!isPending) throw new GatewayError('MCP_FLOW_INVALID');
  const payload = openPayload(keyring, flow);
  const server = await servers.get(tenant, flow.serverId);
  if (server && server.name !== serverName) throw new GatewayError('MCP_FLOW_INVALID');
  const target = await findUnchangedTarget(servers, flow, payload);
  if (target) return { flow, payload, target };
  await endFlow(parts, flow, { from: PENDING_STATUSES, status: 'failed', error: 'config_changed' });
  throw new GatewayError('MCP_FLOW_INVALID');
}

/** Creates new secrets for each redirect: those of an earlier redirect become invalid. */
async function startRedirect(
  { flows, clock, keyring, random }: OAuthFlowParts,
  flow: OAuthFlowRecord,
  payload: FlowPayload,
  target: SignInTarget,
): Promise<FlowRedirect> {
  const [state, browserSecret] = [createFlowSecret(random), createFlowSecret(random)];
  const redirectPayload = {
    ...payload,
    ...{ codeVerifier: createFlowSecret(random), nonce: createFlowSecret(random) },
    ...(payload.usesDpop && { dpopKey: createDpopKey(random).reveal() }),
  };
  const updated = await flows.transition(
    flow.id,
    { status: PENDING_STATUSES, userId: flow.userId, now: clock.now() },
    {
      status: 'opened',
      stateHash: hashFlowSecret(state),
      browserHash: hashFlowSecret(browserSecret),
      sealed: sealPayload(keyring, flow, redirectPayload),
    },
  );
  if (!updated) throw new GatewayError('MCP_FLOW_INVALID');
  const url = buildAuthorizeUrl(redirectPayload, state, target);
  return { kind: 'leave', url, browserSecret, expiresAt: flow.expiresAt };
}

function confirmationInput({ flowId, principal: { authentication: by } }: OpenRequest): string {
  return JSON.stringify([flowId, by.via === 'session' ? by.session : null]);
}

function confirmationContext({ tenant, userId }: UserPrincipal): SealContext {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'oauth-flow', field: 'confirm' };
}

/** Parameters that only the definition of an operator may add. */
const OPERATOR_PARAMETERS = ['access_type', 'prompt', 'audience', 'domain_hint', 'login_hint'] as const;

/** Parameters that would change the audience, the user or the request itself. */
const RESERVED_PARAMETERS = [
  ...OPERATOR_PARAMETERS,
  'resource',
  'request',
  'request_uri',
  'authorization_details',
  'claims',
  'response_mode',
  'id_token_hint',
  'acr_values',
  'max_age',
  'dpop_jkt',
] as const;

/** The authorization request (RFC 6749, section 4.1.1; RFC 7636; RFC 8707). */
function buildAuthorizeUrl(
  payload: FlowPayload & { readonly codeVerifier: string; readonly nonce: string },
  state: string,
  target: SignInTarget,
): string {
  const { clientId, resource } = payload.grant.binding;
  const scopes = payload.grant.scopesRequested;
  const url = new URL(payload.authorizationEndpoint);
  // Replaces a parameter that the endpoint URL contains already.
  const setParameter = (name: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined && value !== '') url.searchParams.set(name, value);
  };
  const { oauth, isOperatorDefined } = target;
  if (isOperatorDefined) {
    setParameter('audience', oauth.audience);
    for (const name of OPERATOR_PARAMETERS) setParameter(name, oauth.raw.authorize_params?.[name]);
  } else for (const name of RESERVED_PARAMETERS) url.searchParams.delete(name);
  // Many providers return a refresh token only after an explicit consent (OpenID Connect Core 1.0, section 11).
  if (includesOfflineAccess(scopes) && !url.searchParams.has('prompt')) setParameter('prompt', 'consent');
  setParameter('response_type', 'code');
  setParameter('client_id', clientId);
  setParameter('redirect_uri', payload.redirectUri);
  setParameter('scope', scopes);
  setParameter('resource', resource);
  setParameter('state', state);
  setParameter('code_challenge', hashFlowSecret(payload.codeVerifier));
  setParameter('code_challenge_method', 'S256');
  if (scopeList(scopes).includes('openid')) setParameter('nonce', payload.nonce);
  // Binds the authorization code to the key (RFC 9449, section 10).
  if (payload.dpopKey !== undefined)
    setParameter('dpop_jkt', parseDpopKey(new HiddenText(payload.dpopKey)).thumbprint);
  setParameter('claims', payload.claims);
  return url.href;
}
