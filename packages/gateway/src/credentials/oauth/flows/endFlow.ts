import type { FlowError } from '@behalf/contracts';
import type { FlowStatus, OAuthFlowRecord } from '../../../ports/index.ts';
import type { OAuthFlowParts } from './flowParts.ts';
import { sealPayload, type FlowPayload } from './flowPayload.ts';

export interface FlowOutcome {
  /** Only from here: what ended meanwhile stays ended as it did. */
  readonly from: readonly FlowStatus[];
  readonly status: 'approved' | 'failed' | 'cancelled';
  readonly error?: FlowError;
  readonly payload?: FlowPayload;
}

/** Ends a flow and tells everybody who waits for it. False when it had ended already. */
export async function endFlow(
  { flows, changes, keyring }: Pick<OAuthFlowParts, 'flows' | 'changes' | 'keyring'>,
  flow: OAuthFlowRecord,
  { from, status, error, payload }: FlowOutcome,
): Promise<boolean> {
  const updated = await flows.transition(
    flow.id,
    { status: from, userId: flow.userId },
    {
      status,
      error: error ?? null,
      ...(payload && { sealed: sealPayload(keyring, flow, payload) }),
    },
  );
  if (!updated) return false;
  await changes.publish({ topic: 'oauthFlows', id: flow.id });
  return true;
}
