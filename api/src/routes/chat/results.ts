import { type ResultKind, type ToolResult, resultKinds } from '@behalf/contracts';
import { type JsonObject, type UserPrincipal, shapeResult } from '@behalf/gateway';
import {
  MAX_DISPLAY_BYTES,
  MAX_DISPLAY_BYTES_PER_USER,
  MAX_STORED_BLOCKS,
  MAX_STORED_NODES,
} from './limits.ts';

interface FittedResult {
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

/** How many members and elements a value has at any depth. Looks at no more than one over `most`. */
function countNodes(value: unknown, limit: number): number {
  // Not by recursion: who made the value chose how deep it is.
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

interface DisplayLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

/** The large results that are on their way to readers. One who does not read keeps them here, so there is an end to it. */
export interface DisplayBudget {
  /** Sends so many bytes, unless there is no room for them: then it sends nothing, and says false. */
  send(owner: Owner, bytes: number, work: () => Promise<void>): Promise<boolean>;
}

type Owner = Pick<UserPrincipal, 'tenant' | 'userId'>;

export function createDisplayBudget(
  { maxPerUser, maxTotal }: DisplayLimits = {
    maxPerUser: MAX_DISPLAY_BYTES_PER_USER,
    maxTotal: MAX_DISPLAY_BYTES,
  },
): DisplayBudget {
  const bytesByUser = new Map<string, number>();
  let total = 0;

  function addBytes(key: string, bytes: number): void {
    total += bytes;
    const userBytes = (bytesByUser.get(key) ?? 0) + bytes;
    if (userBytes === 0) bytesByUser.delete(key);
    else bytesByUser.set(key, userBytes);
  }

  return {
    async send({ tenant, userId }, bytes, work) {
      const key = JSON.stringify([tenant, userId]);
      if (total + bytes > maxTotal || (bytesByUser.get(key) ?? 0) + bytes > maxPerUser) return false;
      addBytes(key, bytes);
      try {
        await work();
      } finally {
        addBytes(key, -bytes);
      }
      return true;
    },
  };
}

/** What a model reads of a result: text of a bounded length, which stands in a tool's message and nowhere else. */
export function toModelText(result: JsonObject, maxLength: number): string {
  return truncateWithNote(shapeResult(result, 'openai').message.content, maxLength);
}

function truncateWithNote(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength)}\n[Truncated: ${text.length - maxLength} more characters]`;
}
