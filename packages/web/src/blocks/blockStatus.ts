import type { BlockSummary, CheckedBlock, MissingParts, SchemaDrift } from '@behalf/contracts';
import { strings } from '../strings/strings.ts';
import type { Tone } from '../ui/Badge.tsx';

/** Status of a block for the current user. */
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

/** Checks whether the user has to act before a run. An approval during the run does not count. */
export function needsAttention(status: BlockStatus): boolean {
  return status !== 'checking' && status !== 'ready' && status !== 'asks';
}

/** Returns the status before the gateway has checked the block. */
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

interface DriftDescription {
  /** Name of the schema that changed. */
  readonly part: string;
  readonly changes: readonly string[];
}

/** Describes the changes of the tool's schemas. Property names are untrusted text of the server. */
export function describeDrift(drift: NonNullable<CheckedBlock['drift']>): DriftDescription[] {
  const words = strings.blocks.drift;
  const parts = [
    { part: words.input, drift: drift.input },
    { part: words.output, drift: drift.output },
  ];
  return parts.flatMap(({ part, drift: schemaDrift }) =>
    schemaDrift ? [{ part, changes: describeChanges(schemaDrift) }] : [],
  );
}

const KINDS = ['added', 'removed', 'changed', 'required', 'optional'] as const;

function describeChanges(drift: SchemaDrift): string[] {
  const words = strings.blocks.drift;
  const changes = KINDS.filter((kind) => drift[kind].length > 0).map((kind) =>
    words[kind](drift[kind].join(', ')),
  );
  return drift.other ? [...changes, words.otherParts] : changes;
}
