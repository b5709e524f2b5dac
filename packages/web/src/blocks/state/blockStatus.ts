import type { BlockSummary, CheckedBlock, MissingParts } from '@behalf/contracts';
import type { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';

/** How a block stands for whoever looks at it, in one word. */
export type BlockStatus = keyof typeof strings.blocks.states;

export const blockStatusTones: Readonly<Record<BlockStatus, Tone>> = {
  checking: 'neutral',
  ready: 'success',
  asks: 'success',
  sign_in: 'warning',
  values: 'warning',
  choose: 'warning',
  broken: 'danger',
  no_access: 'warning',
  server_gone: 'danger',
  tool_gone: 'danger',
  not_found: 'danger',
  unknown: 'neutral',
};

/** Whether somebody has to act before it can run for them. What it asks for when it runs is no trouble. */
export function needsAttention(status: BlockStatus): boolean {
  return status !== 'checking' && status !== 'ready' && status !== 'asks';
}

/** What is known before the gateway was asked whether it would run. */
export function initialBlockStatus({ server }: Pick<BlockSummary, 'server'>): BlockStatus {
  if (server.state === 'gone') return 'server_gone';
  return server.state === 'no_access' ? 'no_access' : 'checking';
}

export function blockStatus({ id, state }: CheckedBlock, missing: MissingParts): BlockStatus {
  if (state !== 'incomplete') return state;
  const kinds = missing.credentials
    .flatMap(({ needs }) => needs)
    .filter(({ blocks }) => blocks.includes(id))
    .map(({ kind }) => kind);
  return (['sign_in', 'values', 'choose'] as const).find((kind) => kinds.includes(kind)) ?? 'asks';
}
