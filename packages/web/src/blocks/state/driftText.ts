import type { CheckedBlock, SchemaDrift } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';

export interface DriftText {
  /** What part of the tool it is about. */
  readonly part: string;
  readonly changes: readonly string[];
}

/** What changed about the tool, part by part. The names are the server's: texts, and no more. */
export function driftText(drift: NonNullable<CheckedBlock['drift']>): DriftText[] {
  const words = strings.blocks.drift;
  const parts = [
    { part: words.input, drift: drift.input },
    { part: words.output, drift: drift.output },
  ];
  return parts.flatMap(({ part, drift: one }) => (one ? [{ part, changes: changesOf(one) }] : []));
}

const KINDS = ['added', 'removed', 'changed', 'required', 'optional'] as const;

function changesOf(drift: SchemaDrift): string[] {
  const words = strings.blocks.drift;
  const named = KINDS.filter((kind) => drift[kind].length > 0).map((kind) =>
    words[kind](drift[kind].join(', ')),
  );
  return drift.other ? [...named, words.other] : named;
}
