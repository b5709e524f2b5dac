import type { CheckedBlock, SchemaDrift } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';

export interface DriftDescription {
  /** What part of the tool it is about. */
  readonly part: string;
  readonly changes: readonly string[];
}

/** What changed about the tool, part by part. The names are the server's: texts, and no more. */
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
