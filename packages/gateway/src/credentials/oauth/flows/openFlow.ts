import type { SealContext } from '@behalf/kernel';
import { GatewayError } from '../../../errors/gatewayError.ts';
import type { OAuthFlowRecord } from '../../../ports/index.ts';
import type { UserPrincipal } from '../../../principal/principal.ts';
import { credentialHolder } from '../../credentialHolder.ts';
import { createDpopKey } from '../../dpop/dpopKey.ts';
import { getHost, getOrigin } from '../safeUrl.ts';
import { resolveSignInTarget } from '../signInServers.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { buildAuthorizeUrl } from './authorizeUrl.ts';
import { endFlow } from './endFlow.ts';
import type { OAuthFlowParts } from './flowParts.ts';
import { openPayload, sealPayload, type FlowPayload } from './flowPayload.ts';
import { matchesFlowSecret, createFlowSecret, hashFlowSecret } from './flowSecrets.ts';

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
