import { encodeSegment } from '../api/request.ts';
import { isRecord, type JsonRecord } from '../result/isRecord.ts';

/** Longer arguments do not fit into an address that people pass on. */
const MAX_HASH_LENGTH = 16_000;
const ARGS_PARAMETER = 'args';

/**
 * Where a tool is run by hand. Arguments stand behind the #, which browsers keep to themselves; those that do not fit are
 * not carried.
 */
export function toolPath(server: string, tool: string, args?: JsonRecord): string {
  return withArgs(`/tools/${encodeSegment(server)}/${encodeSegment(tool)}`, args);
}

/** Where a block is run, with what its form begins with. */
export function blockPath(id: string, args?: JsonRecord): string {
  return withArgs(`/blocks/${encodeSegment(id)}`, args);
}

/** Where a tool is saved as a block, with these values to begin with. */
export function newBlockPath(server: string, tool: string, args?: JsonRecord): string {
  return withArgs(`/blocks/new?${new URLSearchParams({ server, tool }).toString()}`, args);
}

function withArgs(path: string, args: JsonRecord | undefined): string {
  if (!args || Object.keys(args).length === 0) return path;
  const hash = `#${ARGS_PARAMETER}=${encodeURIComponent(JSON.stringify(args))}`;
  return hash.length > MAX_HASH_LENGTH ? path : path + hash;
}

export interface LinkedArgs {
  readonly hash: string;
  readonly args: JsonRecord;
}

/** The arguments of a link; undefined where there are none, or they cannot be read. They only ever fill in a form. */
export function parseLinkedArgs(hash: string): LinkedArgs | undefined {
  const prefix = `#${ARGS_PARAMETER}=`;
  if (!hash.startsWith(prefix) || hash.length > MAX_HASH_LENGTH) return undefined;
  try {
    const args: unknown = JSON.parse(decodeURIComponent(hash.slice(prefix.length)));
    return isRecord(args) ? { hash, args } : undefined;
  } catch {
    return undefined;
  }
}
