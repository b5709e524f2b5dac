import { useSyncExternalStore } from 'react';
import { encodeSegment } from '../api/request.ts';
import { toolCallPath } from '../api/tools.ts';
import { type JsonRecord, isRecord } from '../result/json.ts';

/** Longer arguments do not fit in a URL. */
const MAX_HASH_LENGTH = 16_000;
const ARGS_PARAMETER = 'args';

/**
 * The URL of a tool's form. Arguments are in the fragment, which browsers do not send to the server. Arguments that
 * are too long are omitted.
 */
export function toolPath(server: string, tool: string, args?: JsonRecord): string {
  return withArgs(`/tools/${encodeSegment(server)}/${encodeSegment(tool)}`, args);
}

/** The URL of a block's form with initial values. */
export function blockPath(id: string, args?: JsonRecord): string {
  return withArgs(`/blocks/${encodeSegment(id)}`, args);
}

/** The URL for saving a tool as a block with initial values. */
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

/** The arguments of a link; undefined if there are none or they are invalid. They only fill in a form. */
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

/** Includes the router's events, because it changes the URL without browser events. */
const HASH_EVENTS = ['hashchange', 'popstate', 'pushState', 'replaceState'];

/** The fragment of the URL. */
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
 * The call as a shell command. It reads the API key from a variable, so that the key does not end up in a chat or
 * history. All values are in single quotes.
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
    // `--data` would read a file if the text starts with @.
    `--data-raw ${quoteForShell(JSON.stringify({ arguments: args }))}`,
  ].join(' \\\n  ');
}

/** Quotes a text for a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
