import { encodeSegment } from '../api/request.ts';
import { isRecord, type JsonRecord } from '../result/isRecord.ts';

/** Longer arguments do not fit into an address that people pass on. */
const LONGEST_HASH = 16_000;
const NAME = 'args';

/**
 * Where a tool is run by hand. Arguments stand behind the #, which browsers keep to themselves; those that do not fit are
 * not carried.
 */
export function toolAddress(server: string, tool: string, args?: JsonRecord): string {
  return withArgs(`/tools/${encodeSegment(server)}/${encodeSegment(tool)}`, args);
}

/** Where a block is run, with what its form begins with. */
export function blockAddress(id: string, args?: JsonRecord): string {
  return withArgs(`/blocks/${encodeSegment(id)}`, args);
}

/** Where a tool is saved as a block, with these values to begin with. */
export function newBlockAddress(server: string, tool: string, args?: JsonRecord): string {
  return withArgs(`/blocks/new?${new URLSearchParams({ server, tool }).toString()}`, args);
}

function withArgs(path: string, args: JsonRecord | undefined): string {
  if (!args || Object.keys(args).length === 0) return path;
  const hash = `#${NAME}=${encodeURIComponent(JSON.stringify(args))}`;
  return hash.length > LONGEST_HASH ? path : path + hash;
}

export interface LinkedArgs {
  readonly hash: string;
  readonly args: JsonRecord;
}

/** The arguments of a link; undefined where there are none, or they cannot be read. They only ever fill in a form. */
export function readLink(hash: string): LinkedArgs | undefined {
  const prefix = `#${NAME}=`;
  if (!hash.startsWith(prefix) || hash.length > LONGEST_HASH) return undefined;
  try {
    const args: unknown = JSON.parse(decodeURIComponent(hash.slice(prefix.length)));
    return isRecord(args) ? { hash, args } : undefined;
  } catch {
    return undefined;
  }
}
