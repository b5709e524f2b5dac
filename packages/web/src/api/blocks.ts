import type {
  BlockChange,
  BlockCheckView,
  BlockRequest,
  BlocksView,
  BlockSummary,
  BlockView,
  ToolResult,
} from '@behalf/contracts';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { ApiError } from './apiError.ts';
import { request, segment, send } from './request.ts';
import { followCall, type CallListener } from './tools.ts';

const EVERY_MS = 15_000;
/** In one answer, and of all: beyond that nobody reads a list. */
const PAGE = 200;
const MOST_PAGES = 10;

const ALL = 'blocks';
const ROOT = '/api/mcp/blocks';
const blockPath = (id: string) => `${ROOT}/${segment(id)}`;

/** Those of the caller and those shared with them. */
export const blocksQuery = queryOptions({
  queryKey: [ALL, 'list'],
  queryFn: ({ signal }) => listBlocks(signal),
  refetchInterval: EVERY_MS,
});

async function listBlocks(signal: AbortSignal): Promise<readonly BlockSummary[]> {
  const all: BlockSummary[] = [];
  let after: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query: URLSearchParams = new URLSearchParams({
      limit: String(PAGE),
      ...(after !== null && { after }),
    });
    const { blocks, next }: BlocksView = await request(`${ROOT}?${query.toString()}`, { signal });
    all.push(...blocks);
    if (next === null) break;
    after = next;
  }
  return all;
}

export const blockQuery = (id: string) =>
  queryOptions({
    queryKey: [ALL, 'one', id],
    queryFn: ({ signal }) => request<BlockView>(blockPath(id), { signal }),
    refetchInterval: EVERY_MS,
  });

/** As many as the gateway answers for at once. */
export const MOST_CHECKED = 50;

/**
 * Whether blocks would run for the caller now, and what they wait for. Under the key of servers: what a server, or a sign-in
 * at one, has become changes the answer.
 */
export const blockCheckQuery = (ids: readonly string[], credentials: Readonly<Record<string, string>> = {}) =>
  queryOptions({
    queryKey: ['servers', ALL, 'check', ids, credentials],
    queryFn: ({ signal }) =>
      request<BlockCheckView>(`${ROOT}/check`, { method: 'POST', body: { ids, credentials }, signal }),
    staleTime: 5_000,
    enabled: ids.length > 0,
  });

export function isBlockGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'BLOCK_NOT_FOUND';
}

export async function blocksChanged(client: QueryClient): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: [ALL] }),
    client.invalidateQueries({ queryKey: ['servers', ALL] }),
  ]);
}

/** One is gone. Nothing is asked before the list is looked at: the page that is being left would ask for what is gone. */
export function blockRemoved(client: QueryClient, id: string): void {
  client.setQueryData(blocksQuery.queryKey, (known) => known?.filter((block) => block.id !== id));
  void client.invalidateQueries({ queryKey: [ALL], refetchType: 'none' });
}

export function createBlock(block: BlockRequest): Promise<BlockView> {
  return request(ROOT, { method: 'POST', body: block });
}

/** Only if it is still the version that was read. */
export function changeBlock(id: string, change: BlockChange, version: number): Promise<BlockView> {
  return request(blockPath(id), { method: 'PATCH', body: change, headers: { 'If-Match': `"${version}"` } });
}

export async function removeBlock(id: string): Promise<void> {
  await send(blockPath(id), { method: 'DELETE' });
}

/** A block as somebody runs it. */
export interface BlockRunInput {
  readonly id: string;
  /** The one whose inputs they have seen; another is not run. */
  readonly version: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The label of their own credential; undefined: whichever the gateway takes, or none. */
  readonly credential: string | undefined;
}

/** Runs it and listens until there is an answer. Ending the connection cancels it. */
export async function runBlock(
  { id, version, inputs, credential }: BlockRunInput,
  listener: CallListener,
): Promise<ToolResult> {
  const response = await send(`${blockPath(id)}/run`, {
    ...{ method: 'POST', signal: listener.signal },
    body: { inputs, ...(credential !== undefined && { credential }) },
    headers: { Accept: 'text/event-stream', 'If-Match': `"${version}"` },
  });
  return followCall(response, listener);
}
