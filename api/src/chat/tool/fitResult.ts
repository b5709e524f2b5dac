import { resultKinds, type ResultKind, type ToolResult } from '@behalf/contracts';
import type { JsonObject } from '@behalf/gateway';
import { MAX_STORED_BLOCKS, MAX_STORED_NODES } from '../limits.ts';
import { countNodes } from './countNodes.ts';

export interface FittedResult {
  readonly result: ToolResult;
  readonly isCut?: true;
  /** What of it is missing, in whole or in part. */
  readonly leftOut?: ResultKind[];
}

/**
 * A result as a person is shown it and as it is kept, in so many bytes of JSON: the whole, or without the pieces that
 * are too large for that. Of text the beginning stays.
 */
export function fitResult(result: JsonObject, maxBytes: number): FittedResult {
  const blocks = blocksOf(result);
  const retained = blocks.slice(0, MAX_STORED_BLOCKS);
  const omitted = new Set(blocks.slice(MAX_STORED_BLOCKS).map(kindOf));
  const full = toToolResult(result, retained);
  if (jsonBytes(full) <= maxBytes && countNodes(full, MAX_STORED_NODES) <= MAX_STORED_NODES) {
    return withOmissions(full, omitted);
  }
  return withOmissions(reduceToFit(full, retained, maxBytes, omitted), omitted);
}

/** In bytes, as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

interface Block {
  type: string;
  [key: string]: unknown;
}

/** The server chose the shape; what does not have the one that is promised to readers is left out. */
function blocksOf({ content }: JsonObject): Block[] {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return blocks.filter(
    (block): block is Block =>
      typeof block === 'object' && block !== null && 'type' in block && typeof block.type === 'string',
  );
}

function toToolResult(result: JsonObject, content: Block[]): ToolResult {
  const { isError, ...rest } = result;
  return { ...rest, content, isError: isError === true };
}

function withOmissions(result: ToolResult, omitted: ReadonlySet<ResultKind>): FittedResult {
  if (omitted.size === 0) return { result };
  return { result, isCut: true, leftOut: resultKinds.filter((kind) => omitted.has(kind)) };
}

function kindOf({ type }: Block): ResultKind {
  if (type === 'text' || type === 'image' || type === 'audio') return type;
  if (type === 'resource_link') return 'link';
  return type === 'resource' ? 'file' : 'other';
}

/** The names of the members, and what stands around them. */
const FRAME_BYTES = 64;

/** As many pieces as there is room for, the small ones first; text has half of the room, if it needs it. */
function reduceToFit(
  full: ToolResult,
  blocks: Block[],
  maxBytes: number,
  omitted: Set<ResultKind>,
): ToolResult {
  const budget = createBudget(maxBytes - FRAME_BYTES);
  const included = new Map<number, Block>();
  let structured: Pick<ToolResult, 'structuredContent'> = {};
  const candidates: ResultPart[] = blocks.flatMap((block, index) =>
    isText(block) ? [] : { kind: kindOf(block), value: block, include: () => included.set(index, block) },
  );
  const { structuredContent, isError } = full;
  if (structuredContent !== undefined) {
    const include = () => (structured = { structuredContent });
    candidates.push({ kind: 'structured', value: structuredContent, include });
  }
  const reservedBytes = Math.min(jsonBytes(blocks.filter(isText)), Math.floor(budget.remaining() / 2));
  for (const { kind, value, bytes, include } of candidates
    .map((part) => ({ ...part, bytes: jsonBytes(part.value) }))
    .sort((a, b) => a.bytes - b.bytes)) {
    if (budget.tryConsume(value, bytes, reservedBytes)) include();
    else omitted.add(kind);
  }
  for (const [index, block] of blocks.entries()) {
    if (!isText(block)) continue;
    if (budget.tryConsume(block, jsonBytes(block))) included.set(index, block);
    else {
      omitted.add('text');
      const truncated = { type: 'text', text: truncateToBytes(block.text, budget.remaining() - FRAME_BYTES) };
      if (truncated.text !== '' && budget.tryConsume(truncated, jsonBytes(truncated)))
        included.set(index, truncated);
    }
  }
  const content = blocks.flatMap((_, index) => included.get(index) ?? []);
  return { content, ...structured, isError: isError === true };
}

interface ResultPart {
  readonly kind: ResultKind;
  readonly value: unknown;
  readonly include: () => void;
}

/** What pieces may take together, in bytes and in nodes. */
function createBudget(maxBytes: number) {
  const budget = { bytes: maxBytes, nodes: MAX_STORED_NODES };
  return {
    remaining: () => budget.bytes,
    /** False where it does not fit beside what is reserved. */
    tryConsume(value: unknown, bytes: number, reservedBytes = 0): boolean {
      const nodes = countNodes(value, budget.nodes) + 1;
      // A comma follows it.
      if (bytes + 1 > budget.bytes - reservedBytes || nodes > budget.nodes) return false;
      budget.bytes -= bytes + 1;
      budget.nodes -= nodes;
      return true;
    },
  };
}

function isText(block: Block): block is Block & { text: string } {
  return block.type === 'text' && typeof block['text'] === 'string';
}

/** A character may take six bytes as JSON, and half a pair at the end is none. */
function truncateToBytes(text: string, bytes: number): string {
  return text.slice(0, Math.max(0, Math.floor(bytes / 6))).replace(/[\uD800-\uDBFF]$/, '');
}
