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
import { ApiError, encodeSegment, requestJson, sendRequest } from './request.ts';
import { readCallStream, type CallListener } from './tools.ts';

const REFRESH_MS = 15_000;
/** In one answer, and of all: beyond that nobody reads a list. */
const PAGE_SIZE = 200;
const MAX_PAGES = 10;

const BLOCKS_KEY = 'blocks';
const BLOCKS_PATH = '/api/mcp/blocks';
const blockPath = (id: string) => `${BLOCKS_PATH}/${encodeSegment(id)}`;

/** Those of the caller and those shared with them. */
export const blocksQuery = queryOptions({
  queryKey: [BLOCKS_KEY, 'list'],
  queryFn: ({ signal }) => listBlocks(signal),
  refetchInterval: REFRESH_MS,
});

async function listBlocks(signal: AbortSignal): Promise<readonly BlockSummary[]> {
  const all: BlockSummary[] = [];
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query: URLSearchParams = new URLSearchParams({
      limit: String(PAGE_SIZE),
      ...(after !== null && { after }),
    });
    const { blocks, next }: BlocksView = await requestJson(`${BLOCKS_PATH}?${query.toString()}`, { signal });
    all.push(...blocks);
    if (next === null) break;
    after = next;
  }
  return all;
}

export const blockQuery = (id: string) =>
  queryOptions({
    queryKey: [BLOCKS_KEY, 'one', id],
    queryFn: ({ signal }) => requestJson<BlockView>(blockPath(id), { signal }),
    refetchInterval: REFRESH_MS,
  });

/** As many as the gateway answers for at once. */
export const MAX_CHECKED_BLOCKS = 50;

/**
 * Whether blocks would run for the caller now, and what they wait for. Under the key of servers: what a server, or a sign-in
 * at one, has become changes the answer.
 */
export const blockCheckQuery = (ids: readonly string[], credentials: Readonly<Record<string, string>> = {}) =>
  queryOptions({
    queryKey: ['servers', BLOCKS_KEY, 'check', ids, credentials],
    queryFn: ({ signal }) =>
      requestJson<BlockCheckView>(`${BLOCKS_PATH}/check`, {
        method: 'POST',
        body: { ids, credentials },
        signal,
      }),
    staleTime: 5_000,
    enabled: ids.length > 0,
  });

export function isBlockNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'BLOCK_NOT_FOUND';
}

export async function invalidateBlocks(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: [BLOCKS_KEY] }),
    queryClient.invalidateQueries({ queryKey: ['servers', BLOCKS_KEY] }),
  ]);
}

/** One is gone. Nothing is asked before the list is looked at: the page that is being left would ask for what is gone. */
export function removeCachedBlock(queryClient: QueryClient, id: string): void {
  queryClient.setQueryData(blocksQuery.queryKey, (cached) => cached?.filter((block) => block.id !== id));
  void queryClient.invalidateQueries({ queryKey: [BLOCKS_KEY], refetchType: 'none' });
}

export function createBlock(block: BlockRequest): Promise<BlockView> {
  return requestJson(BLOCKS_PATH, { method: 'POST', body: block });
}

/** Only if it is still the version that was read. */
export function changeBlock(id: string, change: BlockChange, version: number): Promise<BlockView> {
  return requestJson(blockPath(id), {
    method: 'PATCH',
    body: change,
    headers: { 'If-Match': `"${version}"` },
  });
}

export async function deleteBlock(id: string): Promise<void> {
  await sendRequest(blockPath(id), { method: 'DELETE' });
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
  const response = await sendRequest(`${blockPath(id)}/run`, {
    ...{ method: 'POST', signal: listener.signal },
    body: { inputs, ...(credential !== undefined && { credential }) },
    headers: { Accept: 'text/event-stream', 'If-Match': `"${version}"` },
  });
  return readCallStream(response, listener);
}
