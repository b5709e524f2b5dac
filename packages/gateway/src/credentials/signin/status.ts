import { type FlowError, type FlowStatusView, type FlowTokensView, flowErrors } from '@behalf/contracts';
import type { Cancellation } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type OAuthFlowRecord, pendingStatuses } from '../../ports/index.ts';
import type { Principal } from '../../principal/principal.ts';
import { credentialHolder } from '../credentialKeys.ts';
import { type OAuthFlowParts, openPayload } from './flow.ts';

/** Whoever waits looks again after this time, whether a notice came or not. */
const POLL_MS = 500;

export interface FlowWaitOptions {
  readonly waitMs?: number | undefined;
  readonly signal?: Cancellation | undefined;
}

/** How a sign-in of the caller stands: the one place that says so. */
export async function readFlowStatus(
  parts: OAuthFlowParts,
  principal: Principal,
  flowId: string,
  { waitMs = 0, signal }: FlowWaitOptions = {},
): Promise<FlowStatusView> {
  const deadline = parts.clock.now() + waitMs;
  for (;;) {
    // Listening before reading: what happens in between is heard.
    const listener = listenForChange(parts, flowId);
    try {
      const view = toStatusView(parts, await requireOwnFlow(parts, principal, flowId));
      const remainingMs = deadline - parts.clock.now();
      if (view.status !== 'PENDING' || remainingMs <= 0 || signal?.aborted) return view;
      await listener.waitForChange(Math.min(remainingMs, POLL_MS), signal);
    } finally {
      listener.stop();
    }
  }
}

/** About the tokens, and never one of them. */
export async function readFlowTokens(
  parts: OAuthFlowParts,
  principal: Principal,
  flowId: string,
): Promise<FlowTokensView> {
  const flow = await requireOwnFlow(parts, principal, flowId);
  if (flow.status !== 'approved')
    throw new GatewayError('MCP_FLOW_INVALID', { detail: 'The sign-in is not complete.' });
  const { label } = openPayload(parts.keyring, flow);
  const credential = await parts.vault.find({
    ...{ tenant: flow.tenant, principal: credentialHolder(flow), serverId: flow.serverId },
    ...{ kind: 'oauth_code', label },
  });
  if (!credential) throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
  const { scopes, expiresAt, updatedAt, hasRefreshToken } = credential;
  return {
    tokens: {
      token_type: 'Bearer',
      scope: scopes,
      expires_at: expiresAt,
      obtained_at: updatedAt,
      has_refresh_token: hasRefreshToken,
    },
  };
}

async function requireOwnFlow(
  { flows }: OAuthFlowParts,
  { tenant, userId }: Principal,
  id: string,
): Promise<OAuthFlowRecord> {
  const flow = await flows.find(id);
  if (!flow) throw new GatewayError('MCP_FLOW_NOT_FOUND');
  if (flow.tenant !== tenant || flow.userId !== userId) throw new GatewayError('MCP_FLOW_FORBIDDEN');
  return flow;
}

function toStatusView({ clock, keyring }: OAuthFlowParts, flow: OAuthFlowRecord): FlowStatusView {
  const { expiresAt } = flow;
  const isPending = pendingStatuses.includes(flow.status) && clock.now() < expiresAt;
  if (isPending) return { status: 'PENDING', completed: false, failed: false, expiresAt };
  if (flow.status === 'approved') {
    const { probeResult } = openPayload(keyring, flow);
    const visibleProbe = probeResult === 'refused' ? undefined : probeResult;
    return {
      status: 'COMPLETED',
      completed: true,
      failed: false,
      expiresAt,
      ...(visibleProbe && { probe: visibleProbe }),
    };
  }
  return { status: 'FAILED', completed: false, failed: true, error: toFailureReason(flow), expiresAt };
}

function toFailureReason({ status, error }: OAuthFlowRecord): FlowError {
  if (status === 'cancelled') return 'cancelled';
  if (status !== 'failed') return 'expired';
  return flowErrors.find((known) => known === error) ?? 'callback_failed';
}

function listenForChange({ changes, clock }: OAuthFlowParts, flowId: string) {
  let hasChanged = false;
  let wake: () => void = () => undefined;
  const stop = changes.subscribe(({ topic, id }) => {
    if (topic !== 'oauthFlows' || (id !== flowId && id !== '*')) return;
    hasChanged = true;
    wake();
  });
  return {
    stop,
    waitForChange: (ms: number, signal: Cancellation | undefined): Promise<void> =>
      new Promise((resolve) => {
        const done = () => {
          cancel();
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const cancel = clock.timer(ms, done, { keepAlive: true });
        signal?.addEventListener('abort', done);
        wake = done;
        if (hasChanged) done();
      }),
  };
}
