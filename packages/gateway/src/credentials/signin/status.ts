import { type FlowError, type FlowStatusView, type FlowTokensView, flowErrors } from '@behalf/contracts';
import { AutoResetEvent, type Cancellation, withTimeout } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type OAuthFlowRecord, pendingStatuses } from '../../ports/index.ts';
import type { Principal } from '../../principal/principal.ts';
import { credentialHolder } from '../../principal/credentialHolder.ts';
import { type OAuthFlowParts, openPayload } from './flow.ts';

/** The interval at which a waiting caller reads the flow again without a notification. */
const POLL_MS = 500;

export interface FlowWaitOptions {
  readonly waitMs?: number | undefined;
  readonly signal?: Cancellation | undefined;
}

/** The status of the caller's own sign-in. Waits up to `waitMs` for its end. */
export async function readFlowStatus(
  parts: OAuthFlowParts,
  principal: Principal,
  flowId: string,
  { waitMs = 0, signal }: FlowWaitOptions = {},
): Promise<FlowStatusView> {
  const { clock, changes } = parts;
  const deadline = clock.now() + waitMs;
  const changed = new AutoResetEvent();
  const wake = () => changed.set();
  let nextChange: Promise<void> | undefined;
  // Subscribe before reading: a change during the read must end the wait.
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic === 'oauthFlows' && (id === flowId || id === '*')) wake();
  });
  signal?.addEventListener('abort', wake);
  try {
    for (;;) {
      const view = toStatusView(parts, await requireOwnFlow(parts, principal, flowId));
      const remainingMs = deadline - clock.now();
      if (view.status !== 'PENDING' || remainingMs <= 0 || signal?.aborted) return view;
      nextChange ??= changed.wait().then(() => (nextChange = undefined));
      await withTimeout(clock, Math.min(remainingMs, POLL_MS), nextChange, () => undefined);
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener('abort', wake);
  }
}

/** Describes the tokens of a completed sign-in, without the tokens. */
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
    const probe = probeResult === 'refused' ? undefined : probeResult;
    return { status: 'COMPLETED', completed: true, failed: false, expiresAt, ...(probe && { probe }) };
  }
  return { status: 'FAILED', completed: false, failed: true, error: toFailureReason(flow), expiresAt };
}

function toFailureReason({ status, error }: OAuthFlowRecord): FlowError {
  if (status === 'cancelled') return 'cancelled';
  if (status !== 'failed') return 'expired';
  return flowErrors.find((known) => known === error) ?? 'callback_failed';
}
