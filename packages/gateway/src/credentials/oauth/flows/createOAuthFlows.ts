import type { FlowStatusView, FlowTokensView } from '@behalf/contracts';
import type { Principal, UserPrincipal } from '../../../principal/principal.ts';
import type { AllowedServer } from '../../../toolcall/checkAccess.ts';
import { endFlow } from './endFlow.ts';
import { finishFlow, type CallbackRequest, type CallbackResult } from './finishFlow.ts';
import type { OAuthFlowParts } from './flowParts.ts';
import { readFlowStatus, readFlowTokens, type FlowWaitOptions } from './flowStatus.ts';
import { bindFlow, confirmFlow, openFlow, type OpenFlowResult, type OpenRequest } from './openFlow.ts';
import { startOAuthFlow, type StartedFlow, type StartOptions } from './startFlow.ts';

/** Sign-ins of users at servers. */
export interface OAuthFlows {
  start(server: AllowedServer, principal: Principal, options?: StartOptions): Promise<StartedFlow>;
  /** The connect page of a flow. */
  open(request: OpenRequest): Promise<OpenFlowResult>;
  confirm(
    request: OpenRequest & { readonly token: string },
  ): Promise<Extract<OpenFlowResult, { kind: 'leave' }>>;
  /** Makes this browser the one that the pending flow belongs to. */
  bind(
    server: AllowedServer,
    principal: UserPrincipal,
  ): Promise<{ readonly flowId: string; readonly browserSecret: string; readonly expiresAt: number }>;
  finish(request: CallbackRequest): Promise<CallbackResult>;
  readStatus(principal: Principal, flowId: string, wait?: FlowWaitOptions): Promise<FlowStatusView>;
  readTokens(principal: Principal, flowId: string): Promise<FlowTokensView>;
  /** Whether there was one. What has reached the authorization server and come back is not stopped any more. */
  cancel(server: AllowedServer, principal: Principal): Promise<boolean>;
  /** Whether one of this user at this server is under way. */
  isPending(serverId: string, principal: Principal): Promise<boolean>;
}

export function createOAuthFlows(parts: OAuthFlowParts): OAuthFlows {
  const { flows, clock } = parts;
  const findPending = (serverId: string, { tenant, userId }: Principal) =>
    flows.findPending(tenant, userId, serverId, clock.now());
  return {
    start: (server, principal, options) => startOAuthFlow(parts, server, principal, options),
    open: (request) => openFlow(parts, request),
    confirm: (request) => confirmFlow(parts, request),
    bind: ({ id }, principal) => bindFlow(parts, id, principal),
    finish: (request) => finishFlow(parts, request),
    readStatus: (principal, flowId, wait) => readFlowStatus(parts, principal, flowId, wait),
    readTokens: (principal, flowId) => readFlowTokens(parts, principal, flowId),
    async cancel({ id }, principal) {
      const flow = await findPending(id, principal);
      if (!flow) return false;
      return endFlow(parts, flow, { from: ['created', 'opened'], status: 'cancelled', error: 'cancelled' });
    },
    isPending: async (serverId, principal) => (await findPending(serverId, principal)) !== null,
  };
}
