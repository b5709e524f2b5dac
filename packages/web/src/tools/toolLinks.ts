import { useSyncExternalStore } from 'react';
import { encodeSegment } from '../api/request.ts';
import { toolCallPath } from '../api/tools.ts';
import { type JsonRecord, isRecord } from '../result/json.ts';

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

/** Those of the router, which changes addresses without telling the browser's own listeners. */
const HASH_EVENTS = ['hashchange', 'popstate', 'pushState', 'replaceState'];

/** What stands behind the # of the address. */
export function useHash(): string {
  return useSyncExternalStore(subscribeToHash, () => location.hash);
}

function subscribeToHash(listener: () => void): () => void {
  for (const event of HASH_EVENTS) addEventListener(event, listener);
  return () => {
    for (const event of HASH_EVENTS) removeEventListener(event, listener);
  };
}

/**
 * The call as a command of a shell. The key is not in it: whoever runs it has it in a variable, and it does not end up in
 * a chat or a history. Everything else stands in single quotes, in which a shell replaces nothing.
 */
export function curlCommand({
  origin,
  server,
  tool,
  args,
}: {
  readonly origin: string;
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}): string {
  return [
    `curl ${quoteForShell(origin + toolCallPath(server, tool))}`,
    '-H "Authorization: Bearer $BEHALF_API_KEY"',
    `-H ${quoteForShell('Content-Type: application/json')}`,
    // Not --data: that would read a file where the text begins with @.
    `--data-raw ${quoteForShell(JSON.stringify({ arguments: args }))}`,
  ].join(' \\\n  ');
}

/** One word for a POSIX shell, whatever stands in it. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
