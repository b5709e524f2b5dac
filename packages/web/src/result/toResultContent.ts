import type { ToolResult } from '@behalf/contracts';
import { isRecord } from './isRecord.ts';
import { parseResultBlock, type ResultBlock } from './parseResultBlock.ts';
import { isEqualJson } from './isEqualJson.ts';

/** What of a result is shown, in its order; nothing is said twice. */
export interface ResultContent {
  readonly isError: boolean;
  readonly blocks: readonly ResultBlock[];
  /** Wrapped, because null is a value too. */
  readonly structured: { readonly value: unknown } | undefined;
}

export function toResultContent({ content, structuredContent, isError = false }: ToolResult): ResultContent {
  // What a server sends is not always what the protocol asks for.
  const blocks: ResultBlock[] = Array.isArray(content) ? content.map(parseResultBlock) : [];
  if (structuredContent === undefined) return { isError, blocks, structured: undefined };
  const unwrapped = unwrap(structuredContent);
  if (
    typeof unwrapped === 'string' &&
    blocks.some((block) => block.kind === 'text' && block.text === unwrapped)
  ) {
    return { isError, blocks, structured: undefined };
  }
  const remainingBlocks = blocks.filter(
    (block) => !duplicatesStructured(block, structuredContent, unwrapped),
  );
  return { isError, blocks: remainingBlocks, structured: { value: structuredContent } };
}

/** Some servers wrap what is no object: `{ "result": ... }`. */
function unwrap(structured: unknown): unknown {
  if (!isRecord(structured)) return undefined;
  const names = Object.keys(structured);
  return names.length === 1 && names[0] === 'result' ? structured['result'] : undefined;
}

/** Servers repeat what is structured as text, for readers that know nothing else. */
function duplicatesStructured(block: ResultBlock, structured: unknown, unwrapped: unknown): boolean {
  if (block.kind !== 'text') return false;
  let value: unknown;
  try {
    value = JSON.parse(block.text);
  } catch {
    return false;
  }
  return isEqualJson(value, structured) || (unwrapped !== undefined && isEqualJson(value, unwrapped));
}
