import { scopeList } from '@behalf/contracts';
import { HiddenText, type SealContext } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { OAuthFlowRecord } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { credentialHolder } from '../credentialKeys.ts';
import { getHost, getOrigin } from '../oauth/addresses.ts';
import { createDpopKey, parseDpopKey } from '../oauth/dpop.ts';
import { includesOfflineAccess } from '../oauth/scopes.ts';
import { type SignInTarget, resolveSignInTarget } from '../oauth/signInTarget.ts';
import {
  type FlowPayload,
  type OAuthFlowParts,
  createFlowSecret,
  endFlow,
  hashFlowSecret,
  matchesFlowSecret,
  openPayload,
  s256,
  sealPayload,
} from './flow.ts';

/** Before the authorization server has been reached. */
const PENDING_STATUSES = ['created', 'opened'] as const;

export interface OpenRequest {
  readonly flowId: string;
  readonly serverName: string;
  readonly principal: UserPrincipal;
  /** What the browser's cookie of this flow holds. */
  readonly browserSecret: string | null;
}

export type OpenFlowResult =
  /** The browser leaves for the authorization server, and brings the secret back. */
  | {
      readonly kind: 'leave';
      readonly url: string;
      readonly browserSecret: string;
      readonly expiresAt: number;
    }
  /** A person has to say that it is they who want this. */
  | {
      readonly kind: 'ask';
      readonly serverName: string;
      readonly title: string;
      readonly serverHost: string;
      readonly authorizationHost: string;
      readonly authorizationOrigin: string;
      /** The two belong to different people, as far as anybody can tell. */
      readonly isThirdParty: boolean;
      /** Goes back with the answer. */
      readonly token: string;
    };

/** The connect page: at once for the browser that began it, else after a question. */
export async function openFlow(parts: OAuthFlowParts, request: OpenRequest): Promise<OpenFlowResult> {
  const { flow, payload, target } = await findPendingFlow(parts, request);
  if (!payload.requiresConfirmation && matchesFlowSecret(flow.browserHash, request.browserSecret)) {
    return startRedirect(parts, flow, payload, target);
  }
  return {
    kind: 'ask',
    serverName: target.server.name,
    title: target.server.settings.title ?? target.server.name,
    serverHost: getHost(payload.canonicalUrl),
    authorizationHost: getHost(payload.endpoints.authorization),
    authorizationOrigin: getOrigin(payload.endpoints.authorization),
    isThirdParty: payload.requiresConfirmation,
    token: parts.keyring.mac(confirmationInput(request), confirmationContext(request.principal)),
  };
}

/** The answer to that question. `token`: of the page that asked it, in this very session. */
export async function confirmFlow(
  parts: OAuthFlowParts,
  request: OpenRequest & { readonly token: string },
): Promise<Extract<OpenFlowResult, { kind: 'leave' }>> {
  const { flow, payload, target } = await findPendingFlow(parts, request);
  if (
    !parts.keyring.verifyMac(
      confirmationInput(request),
      request.token,
      confirmationContext(request.principal),
    )
  ) {
    throw new GatewayError('CSRF_REFUSED');
  }
  return startRedirect(parts, flow, payload, target);
}

/** Makes the browser that asks the one that the sign-in belongs to: its user is signed in there. */
export async function bindFlow(
  parts: OAuthFlowParts,
  serverId: string,
  { tenant, userId }: UserPrincipal,
): Promise<{ readonly flowId: string; readonly browserSecret: string; readonly expiresAt: number }> {
  const { flows, clock, random } = parts;
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

interface FoundFlow {
  readonly flow: OAuthFlowRecord;
  readonly payload: FlowPayload;
  readonly target: SignInTarget;
}

/** Before anything else: whose it is. Another user is turned away here, and the authorization server never hears of it. */
async function findPendingFlow(
  parts: OAuthFlowParts,
  { flowId, serverName, principal }: OpenRequest,
): Promise<FoundFlow> {
  const { flows, servers, clock, keyring } = parts;
  const { tenant, userId } = principal;
  const flow = await flows.find(flowId);
  if (!flow) throw new GatewayError('MCP_FLOW_NOT_FOUND');
  if (flow.tenant !== tenant || flow.userId !== userId) throw new GatewayError('MCP_FLOW_FORBIDDEN');
  const isPending = (flow.status === 'created' || flow.status === 'opened') && clock.now() < flow.expiresAt;
  if (!isPending) throw new GatewayError('MCP_FLOW_INVALID');
  const payload = openPayload(keyring, flow);
  const server = await servers.get(tenant, flow.serverId);
  if (server && server.name !== serverName) throw new GatewayError('MCP_FLOW_INVALID');
  const target =
    server && (await resolveSignInTarget(servers, server, { tenant, holder: credentialHolder(principal) }));
  if (
    !target ||
    target.server.revision !== payload.definitionRevision ||
    target.canonicalUrl !== payload.canonicalUrl
  ) {
    await endFlow(parts, flow, { from: PENDING_STATUSES, status: 'failed', error: 'config_changed' });
    throw new GatewayError('MCP_FLOW_INVALID');
  }
  return { flow, payload, target };
}

/** New secrets each time: what an earlier departure left behind is of no use any more. */
async function startRedirect(
  parts: OAuthFlowParts,
  flow: OAuthFlowRecord,
  payload: FlowPayload,
  target: SignInTarget,
): Promise<Extract<OpenFlowResult, { kind: 'leave' }>> {
  const { flows, clock, keyring, random } = parts;
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
  return {
    kind: 'leave',
    url: buildAuthorizeUrl(redirectPayload, state, target),
    browserSecret,
    expiresAt: flow.expiresAt,
  };
}

function confirmationInput({ flowId, principal: { authentication: by } }: OpenRequest): string {
  return JSON.stringify([flowId, by.via === 'session' ? by.session : null]);
}

function confirmationContext({ tenant, userId }: UserPrincipal): SealContext {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'oauth-flow', field: 'confirm' };
}

/** What only the operator may add to a request. */
const OPERATOR_PARAMETERS = ['access_type', 'prompt', 'audience', 'domain_hint', 'login_hint'] as const;

/** What would say in our name whom a token is for, who signs in, or that the request stands elsewhere altogether. */
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

/** Where the browser leaves for (RFC 6749, section 4.1.1; RFC 7636; RFC 8707). */
function buildAuthorizeUrl(
  payload: FlowPayload & { readonly codeVerifier: string; readonly nonce: string },
  state: string,
  target: SignInTarget,
): string {
  const url = new URL(payload.endpoints.authorization);
  // Set, not appended: what the address itself has does not take the place of ours.
  const setParameter = (name: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined && value !== '') url.searchParams.set(name, value);
  };
  const { oauth, isOperatorDefined } = target;
  if (isOperatorDefined) {
    setParameter('audience', oauth.audience);
    for (const name of OPERATOR_PARAMETERS) setParameter(name, oauth.raw.authorize_params?.[name]);
  } else for (const name of RESERVED_PARAMETERS) url.searchParams.delete(name);
  // Without it many give a refresh token the first time alone (OpenID Connect Core 1.0, section 11).
  if (includesOfflineAccess(payload.scopes) && !url.searchParams.has('prompt'))
    setParameter('prompt', 'consent');
  setParameter('response_type', 'code');
  setParameter('client_id', payload.clientId);
  setParameter('redirect_uri', payload.redirectUri);
  setParameter('scope', payload.scopes);
  setParameter('resource', payload.resource);
  setParameter('state', state);
  setParameter('code_challenge', s256(payload.codeVerifier));
  setParameter('code_challenge_method', 'S256');
  if (scopeList(payload.scopes).includes('openid')) setParameter('nonce', payload.nonce);
  // Section 10: the code too is of use to who has the key alone.
  if (payload.dpopKey !== undefined)
    setParameter('dpop_jkt', parseDpopKey(new HiddenText(payload.dpopKey)).thumbprint);
  setParameter('claims', payload.claims);
  return url.href;
}
