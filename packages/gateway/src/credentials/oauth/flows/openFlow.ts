import type { SealContext } from '@behalf/kernel';
import { GatewayError } from '../../../errors/gatewayError.ts';
import type { OAuthFlowRecord } from '../../../ports/index.ts';
import type { UserPrincipal } from '../../../principal/principal.ts';
import { credentialHolder } from '../../credentialHolder.ts';
import { newDpopKey } from '../../dpop/dpopKey.ts';
import { hostOf, originOf } from '../safeUrl.ts';
import { targetFor } from '../signInServers.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { authorizeUrl } from './authorizeUrl.ts';
import { endFlow } from './endFlow.ts';
import type { OAuthFlowParts } from './flowParts.ts';
import { openPayload, sealPayload, type FlowPayload } from './flowPayload.ts';
import { isSecretOf, newSecret, secretHash } from './secrets.ts';

/** Before the authorization server has been reached. */
const UNOPENED = ['created', 'opened'] as const;

export interface OpenRequest {
  readonly flowId: string;
  readonly serverName: string;
  readonly principal: UserPrincipal;
  /** What the browser's cookie of this flow holds. */
  readonly browserSecret: string | null;
}

export type Opened =
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
      readonly isElsewhere: boolean;
      /** Goes back with the answer. */
      readonly token: string;
    };

/** The connect page: at once for the browser that began it, else after a question. */
export async function openFlow(parts: OAuthFlowParts, request: OpenRequest): Promise<Opened> {
  const { flow, payload, target } = await find(parts, request);
  if (!payload.mustAsk && isSecretOf(flow.browserHash, request.browserSecret)) {
    return leave(parts, flow, payload, target);
  }
  return {
    kind: 'ask',
    serverName: target.server.name,
    title: target.server.settings.title ?? target.server.name,
    serverHost: hostOf(payload.canonicalUrl),
    authorizationHost: hostOf(payload.endpoints.authorization),
    authorizationOrigin: originOf(payload.endpoints.authorization),
    isElsewhere: payload.mustAsk,
    token: parts.keyring.mac(confirmation(request), confirmContext(request.principal)),
  };
}

/** The answer to that question. `token`: of the page that asked it, in this very session. */
export async function confirmFlow(
  parts: OAuthFlowParts,
  request: OpenRequest & { readonly token: string },
): Promise<Extract<Opened, { kind: 'leave' }>> {
  const { flow, payload, target } = await find(parts, request);
  if (!parts.keyring.verifyMac(confirmation(request), request.token, confirmContext(request.principal))) {
    throw new GatewayError('CSRF_REFUSED');
  }
  return leave(parts, flow, payload, target);
}

/** Makes the browser that asks the one that the sign-in belongs to: its user is signed in there. */
export async function bindFlow(
  parts: OAuthFlowParts,
  serverId: string,
  { tenant, userId }: UserPrincipal,
): Promise<{ readonly flowId: string; readonly browserSecret: string; readonly expiresAt: number }> {
  const { flows, clock, random } = parts;
  const now = clock.now();
  const pending = await flows.pendingOf(tenant, userId, serverId, now);
  const browserSecret = newSecret(random);
  const bound =
    pending &&
    (await flows.move(
      pending.id,
      { status: UNOPENED, userId, now },
      { browserHash: secretHash(browserSecret) },
    ));
  if (!bound) throw new GatewayError('MCP_FLOW_NOT_FOUND');
  return { flowId: bound.id, browserSecret, expiresAt: bound.expiresAt };
}

interface Found {
  readonly flow: OAuthFlowRecord;
  readonly payload: FlowPayload;
  readonly target: SignInTarget;
}

/** Before anything else: whose it is. Another user is turned away here, and the authorization server never hears of it. */
async function find(parts: OAuthFlowParts, { flowId, serverName, principal }: OpenRequest): Promise<Found> {
  const { flows, servers, clock, keyring } = parts;
  const { tenant, userId } = principal;
  const flow = await flows.find(flowId);
  if (!flow) throw new GatewayError('MCP_FLOW_NOT_FOUND');
  if (flow.tenant !== tenant || flow.userId !== userId) throw new GatewayError('MCP_FLOW_FORBIDDEN');
  const isOpen = (flow.status === 'created' || flow.status === 'opened') && clock.now() < flow.expiresAt;
  if (!isOpen) throw new GatewayError('MCP_FLOW_INVALID');
  const payload = openPayload(keyring, flow);
  const server = await servers.get(tenant, flow.serverId);
  if (server && server.name !== serverName) throw new GatewayError('MCP_FLOW_INVALID');
  const target =
    server && (await targetFor(servers, server, { tenant, holder: credentialHolder(principal) }));
  if (
    !target ||
    target.server.revision !== payload.revision ||
    target.canonicalUrl !== payload.canonicalUrl
  ) {
    await endFlow(parts, flow, { from: UNOPENED, status: 'failed', error: 'config_changed' });
    throw new GatewayError('MCP_FLOW_INVALID');
  }
  return { flow, payload, target };
}

/** New secrets each time: what an earlier departure left behind is of no use any more. */
async function leave(
  parts: OAuthFlowParts,
  flow: OAuthFlowRecord,
  payload: FlowPayload,
  target: SignInTarget,
): Promise<Extract<Opened, { kind: 'leave' }>> {
  const { flows, clock, keyring, random } = parts;
  const [state, browserSecret] = [newSecret(random), newSecret(random)];
  const leaving = {
    ...payload,
    ...{ verifier: newSecret(random), nonce: newSecret(random) },
    ...(payload.bindsTokens && { dpopKey: newDpopKey(random).reveal() }),
  };
  const opened = await flows.move(
    flow.id,
    { status: UNOPENED, userId: flow.userId, now: clock.now() },
    {
      status: 'opened',
      stateHash: secretHash(state),
      browserHash: secretHash(browserSecret),
      sealed: sealPayload(keyring, flow, leaving),
    },
  );
  if (!opened) throw new GatewayError('MCP_FLOW_INVALID');
  return {
    kind: 'leave',
    url: authorizeUrl(leaving, state, target),
    browserSecret,
    expiresAt: flow.expiresAt,
  };
}

function confirmation({ flowId, principal: { by } }: OpenRequest): string {
  return JSON.stringify([flowId, by.via === 'session' ? by.session : null]);
}

function confirmContext({ tenant, userId }: UserPrincipal): SealContext {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'oauth-flow', field: 'confirm' };
}
