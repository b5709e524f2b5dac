import type { ToolResult } from '@behalf/contracts';
import { isRecord } from './isRecord.ts';
import { readBlock, type Block } from './readBlock.ts';
import { sameJson } from './sameJson.ts';

/** What of a result is shown, in its order; nothing is said twice. */
export interface ResultPlan {
  readonly isError: boolean;
  readonly blocks: readonly Block[];
  /** Wrapped, because null is a value too. */
  readonly structured: { readonly value: unknown } | undefined;
}

export function planResult({ content, structuredContent, isError = false }: ToolResult): ResultPlan {
  // What a server sends is not always what the protocol asks for.
  const blocks: Block[] = Array.isArray(content) ? content.map(readBlock) : [];
  if (structuredContent === undefined) return { isError, blocks, structured: undefined };
  const wrapped = unwrap(structuredContent);
  if (
    typeof wrapped === 'string' &&
    blocks.some((block) => block.kind === 'text' && block.text === wrapped)
  ) {
    return { isError, blocks, structured: undefined };
  }
  const others = blocks.filter((block) => !repeats(block, structuredContent, wrapped));
  return { isError, blocks: others, structured: { value: structuredContent } };
}

/** Some servers wrap what is no object: `{ "result": ... }`. */
function unwrap(structured: unknown): unknown {
  if (!isRecord(structured)) return undefined;
  const names = Object.keys(structured);
  return names.length === 1 && names[0] === 'result' ? structured['result'] : undefined;
}

/** Servers repeat what is structured as text, for readers that know nothing else. */
function repeats(block: Block, structured: unknown, wrapped: unknown): boolean {
  if (block.kind !== 'text') return false;
  let value: unknown;
  try {
    value = JSON.parse(block.text);
  } catch {
    return false;
  }
  return sameJson(value, structured) || (wrapped !== undefined && sameJson(value, wrapped));
}
