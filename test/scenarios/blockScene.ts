import type { BlockCheckView, BlockView, MissingParts } from '@behalf/contracts';
import type { CallBody, Person } from './people.ts';

/** Settings under which everybody may define and share. */
export const sharing = { interface: { mcpServers: { use: true, create: true, share: true, public: true } } };

export interface Answered<T> {
  readonly status: number;
  readonly body: T;
}

export type Ran = Answered<CallBody & { missing?: MissingParts }>;

/** The status and the parsed body; nothing for an empty one. */
export async function answered<T>(answer: Promise<Response>): Promise<Answered<T>> {
  const response = await answer;
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as T };
}

export async function saveBlock(who: Person, request: object): Promise<BlockView> {
  const { status, body } = await answered<BlockView>(who.post('/api/mcp/blocks', request));
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export const run = (who: Person, id: string, body: object = {}) =>
  answered<CallBody & { missing?: MissingParts }>(who.post(`/api/mcp/blocks/${id}/run`, body));

export const check = (who: Person, body: object) =>
  answered<BlockCheckView>(who.post('/api/mcp/blocks/check', body));

/** Shares a block with these, as viewers unless another set of bits is named. */
export async function shareWith(
  owner: Person,
  id: string,
  people: readonly Person[],
  accessRoleId = 'mcpServer_viewer',
): Promise<void> {
  const updated = people.map((person) => ({ type: 'user', id: person.id, accessRoleId }));
  const at = `/api/permissions/block/${id}`;
  const { status, body } = await answered(owner.send('PUT', at, { updated, removed: [], public: false }));
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}
