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
/** Blocks per page of the list request, and the maximum number of pages that the client loads. */
const PAGE_SIZE = 200;
const MAX_PAGES = 10;

const BLOCKS_KEY = 'blocks';
const BLOCKS_PATH = '/api/mcp/blocks';
const blockPath = (id: string) => `${BLOCKS_PATH}/${encodeSegment(id)}`;

/** Blocks of the caller and blocks shared with the caller. */
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

/** Maximum number of IDs that the gateway accepts in one check request. */
export const MAX_CHECKED_BLOCKS = 50;

/**
 * Checks whether the caller can run the blocks now and what is missing. The key is below `servers`
 * because a changed server or a new sign-in at a server changes the result.
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

/**
 * Removes a deleted block from the cached list. Queries are invalidated without a refetch: the page
 * of the block is still mounted and would request the deleted block.
 */
export function removeCachedBlock(queryClient: QueryClient, id: string): void {
  queryClient.setQueryData(blocksQuery.queryKey, (cached) => cached?.filter((block) => block.id !== id));
  void queryClient.invalidateQueries({ queryKey: [BLOCKS_KEY], refetchType: 'none' });
}

export function createBlock(block: BlockRequest): Promise<BlockView> {
  return requestJson(BLOCKS_PATH, { method: 'POST', body: block });
}

/** Changes a block. The gateway rejects the change if the block is no longer at `version`. */
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

/** Parameters of a block run. */
export interface BlockRunInput {
  readonly id: string;
  /** Version that the user saw. The gateway does not run any other version. */
  readonly version: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Label of the user's credential. If undefined, the gateway selects a credential or runs without one. */
  readonly credential: string | undefined;
}

/** Runs a block and returns its result. Aborting the request cancels the run. */
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
