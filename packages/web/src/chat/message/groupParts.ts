import type { CallPartState, PartState, TextPartState } from '../session/messages.ts';

export type PartGroup =
  | { readonly type: 'text'; readonly part: TextPartState }
  | { readonly type: 'calls'; readonly parts: readonly CallPartState[] };

/** In their order; calls that stand together were made side by side. */
export function groupParts(parts: readonly PartState[]): readonly PartGroup[] {
  const groups: PartGroup[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (part.type === 'text') groups.push({ type: 'text', part });
    else if (last?.type === 'calls') groups[groups.length - 1] = { ...last, parts: [...last.parts, part] };
    else groups.push({ type: 'calls', parts: [part] });
  }
  return groups;
}
