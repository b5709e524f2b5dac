import { type ResultKind, type ToolResult, resultKinds } from '@behalf/contracts';
import { type JsonObject, type UserPrincipal, principalKey, shapeResult } from '@behalf/gateway';
import { type QuotaLimits, createUserQuota } from '../../http/userQuota.ts';
import {
  MAX_DISPLAY_BYTES,
  MAX_DISPLAY_BYTES_PER_USER,
  MAX_STORED_BLOCKS,
  MAX_STORED_NODES,
} from './limits.ts';

interface FittedResult {
  readonly result: ToolResult;
  readonly isCut?: true;
  /** The kinds of content that are missing in whole or in part. */
  readonly leftOut?: ResultKind[];
}

/** Reduces a result to a JSON size for display or storage: leaves out the largest parts, and keeps the beginning of text. */
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

/** The size of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

interface Block {
  type: string;
  [key: string]: unknown;
}

/** The content blocks of a result. A server may send malformed blocks; those are left out. */
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

/** The member names and the punctuation around them. */
const FRAME_BYTES = 64;

/** Includes the smallest parts first. Text has half of the space reserved, if it needs that much. */
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
      const maxLength = Math.floor((budget.remaining() - FRAME_BYTES) / MAX_CHARACTER_BYTES);
      const truncated = { type: 'text', text: truncateText(block.text, maxLength) };
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

/** Bytes and nodes that the parts of a result may use together. */
function createBudget(maxBytes: number) {
  const budget = { bytes: maxBytes, nodes: MAX_STORED_NODES };
  return {
    remaining: () => budget.bytes,
    /** Returns false if the value does not fit beside the reserved bytes. */
    tryConsume(value: unknown, bytes: number, reservedBytes = 0): boolean {
      const nodes = countNodes(value, budget.nodes) + 1;
      // One more byte for the comma.
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

/** The maximum size of a character in JSON, for example of `\u0000`. */
const MAX_CHARACTER_BYTES = 6;

/** The number of members and elements at any depth. Stops counting above `limit`. */
function countNodes(value: unknown, limit: number): number {
  // Not recursive: the server chooses the depth of the value, and recursion could overflow the stack.
  const pending: unknown[] = [value];
  let count = 0;
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const child of Object.values(next)) {
      count += 1;
      if (count > limit) return count;
      pending.push(child);
    }
  }
  return count;
}

export type DisplayBudget = ReturnType<typeof createDisplayBudget>;

/** Limits the large results that wait in memory for clients that read slowly or not at all. */
export function createDisplayBudget(
  limits: QuotaLimits = { maxPerUser: MAX_DISPLAY_BYTES_PER_USER, maxTotal: MAX_DISPLAY_BYTES },
) {
  const quota = createUserQuota(limits);
  return {
    /** Runs the work that sends `bytes`. Returns false without running it if a limit would be exceeded. */
    async send(owner: UserPrincipal, bytes: number, work: () => Promise<void>): Promise<boolean> {
      const user = principalKey(owner);
      if (quota.exceeded(user, bytes)) return false;
      quota.add(user, bytes);
      try {
        await work();
      } finally {
        quota.add(user, -bytes);
      }
      return true;
    },
  };
}

/** The text that a model receives for a result, limited in length. */
export function toModelText(result: JsonObject, maxLength: number): string {
  return truncateWithNote(shapeResult(result, 'openai').message.content, maxLength);
}

function truncateWithNote(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength)}\n[Truncated: ${text.length - maxLength} more characters]`;
}

/**
 * Reduces items to a total size: applies each reducer to the items in order, oldest first, until they fit. A later reducer applies
 * only if the earlier ones were not sufficient.
 */
export function reduceToSize<T>(
  items: readonly T[],
  excess: number,
  sizeOf: (item: T) => number,
  reducers: readonly ((item: T, excess: number) => T)[],
): T[] {
  let remainingExcess = excess;
  let reducedItems = [...items];
  for (const reduce of reducers) {
    reducedItems = reducedItems.map((item) => {
      if (remainingExcess <= 0) return item;
      const reduced = reduce(item, remainingExcess);
      remainingExcess -= sizeOf(item) - sizeOf(reduced);
      return reduced;
    });
  }
  return reducedItems;
}

/** Shortens text without leaving a lone high surrogate at the end, which JSON would escape with six bytes. */
export function truncateText(text: string, maxLength: number): string {
  return text.slice(0, Math.max(0, maxLength)).replace(/[\uD800-\uDBFF]$/, '');
}
