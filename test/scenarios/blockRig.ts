import type { BlockCheckView, BlockView, MissingParts } from '@behalf/contracts';
import type { CallBody, TestUser } from './users.ts';

/** Settings under which everybody may define and share. */
export const sharingSettings = {
  interface: { mcpServers: { use: true, create: true, share: true, public: true } },
};

export interface RestResponse<T> {
  readonly status: number;
  readonly body: T;
}

export type RunResponse = RestResponse<CallBody & { missing?: MissingParts }>;

/** The status and the parsed body; nothing for an empty one. */
export async function readResponse<T>(pendingResponse: Promise<Response>): Promise<RestResponse<T>> {
  const response = await pendingResponse;
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as T };
}

export async function saveBlock(user: TestUser, request: object): Promise<BlockView> {
  const { status, body } = await readResponse<BlockView>(user.post('/api/mcp/blocks', request));
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export const runBlock = (user: TestUser, id: string, body: object = {}) =>
  readResponse<CallBody & { missing?: MissingParts }>(user.post(`/api/mcp/blocks/${id}/run`, body));

export const checkBlock = (user: TestUser, body: object) =>
  readResponse<BlockCheckView>(user.post('/api/mcp/blocks/check', body));

/** Shares a block with these, as viewers unless another set of bits is named. */
export async function shareBlock(
  owner: TestUser,
  id: string,
  users: readonly TestUser[],
  accessRoleId = 'mcpServer_viewer',
): Promise<void> {
  const updated = users.map((user) => ({ type: 'user', id: user.id, accessRoleId }));
  const path = `/api/permissions/block/${id}`;
  const { status, body } = await readResponse(
    owner.send('PUT', path, { updated, removed: [], public: false }),
  );
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}
