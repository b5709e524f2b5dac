import { resultKinds, type ResultKind, type ToolResult } from '@behalf/contracts';
import type { JsonObject } from '@behalf/gateway';
import { MOST_KEPT_BLOCKS, MOST_KEPT_NODES } from '../limits.ts';
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
export function fitResult(result: JsonObject, most: number): FittedResult {
  const blocks = blocksOf(result);
  const first = blocks.slice(0, MOST_KEPT_BLOCKS);
  const missing = new Set(blocks.slice(MOST_KEPT_BLOCKS).map(kindOf));
  const whole = readable(result, first);
  if (sizeOf(whole) <= most && countNodes(whole, MOST_KEPT_NODES) <= MOST_KEPT_NODES) {
    return withMissing(whole, missing);
  }
  return withMissing(lighter(whole, first, most, missing), missing);
}

/** In bytes, as JSON. */
export function sizeOf(value: unknown): number {
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

function readable(result: JsonObject, content: Block[]): ToolResult {
  const { isError, ...rest } = result;
  return { ...rest, content, isError: isError === true };
}

function withMissing(result: ToolResult, missing: ReadonlySet<ResultKind>): FittedResult {
  if (missing.size === 0) return { result };
  return { result, isCut: true, leftOut: resultKinds.filter((kind) => missing.has(kind)) };
}

function kindOf({ type }: Block): ResultKind {
  if (type === 'text' || type === 'image' || type === 'audio') return type;
  if (type === 'resource_link') return 'link';
  return type === 'resource' ? 'file' : 'other';
}

/** The names of the members, and what stands around them. */
const FRAME = 64;

/** As many pieces as there is room for, the small ones first; text has half of the room, if it needs it. */
function lighter(whole: ToolResult, blocks: Block[], most: number, missing: Set<ResultKind>): ToolResult {
  const room = createRoom(most - FRAME);
  const kept = new Map<number, Block>();
  let structured: Pick<ToolResult, 'structuredContent'> = {};
  const others: Piece[] = blocks.flatMap((block, place) =>
    isText(block) ? [] : { kind: kindOf(block), value: block, keep: () => kept.set(place, block) },
  );
  const { structuredContent, isError } = whole;
  if (structuredContent !== undefined) {
    const keep = () => (structured = { structuredContent });
    others.push({ kind: 'structured', value: structuredContent, keep });
  }
  const reserved = Math.min(sizeOf(blocks.filter(isText)), Math.floor(room.left() / 2));
  for (const { kind, value, bytes, keep } of others
    .map((piece) => ({ ...piece, bytes: sizeOf(piece.value) }))
    .sort((one, other) => one.bytes - other.bytes)) {
    if (room.take(value, bytes, reserved)) keep();
    else missing.add(kind);
  }
  for (const [place, block] of blocks.entries()) {
    if (!isText(block)) continue;
    if (room.take(block, sizeOf(block))) kept.set(place, block);
    else {
      missing.add('text');
      const beginning = { type: 'text', text: beginningOf(block.text, room.left() - FRAME) };
      if (beginning.text !== '' && room.take(beginning, sizeOf(beginning))) kept.set(place, beginning);
    }
  }
  const content = blocks.flatMap((_, place) => kept.get(place) ?? []);
  return { content, ...structured, isError: isError === true };
}

interface Piece {
  readonly kind: ResultKind;
  readonly value: unknown;
  readonly keep: () => void;
}

/** What pieces may take together, in bytes and in nodes. */
function createRoom(most: number) {
  const room = { bytes: most, nodes: MOST_KEPT_NODES };
  return {
    left: () => room.bytes,
    /** False where it does not fit beside what is reserved. */
    take(value: unknown, bytes: number, reserved = 0): boolean {
      const nodes = countNodes(value, room.nodes) + 1;
      // A comma follows it.
      if (bytes + 1 > room.bytes - reserved || nodes > room.nodes) return false;
      room.bytes -= bytes + 1;
      room.nodes -= nodes;
      return true;
    },
  };
}

function isText(block: Block): block is Block & { text: string } {
  return block.type === 'text' && typeof block['text'] === 'string';
}

/** A character may take six bytes as JSON, and half a pair at the end is none. */
function beginningOf(text: string, bytes: number): string {
  return text.slice(0, Math.max(0, Math.floor(bytes / 6))).replace(/[\uD800-\uDBFF]$/, '');
}
