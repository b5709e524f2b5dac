import { RunView, SetCheckView, SetView, type MissingParts, type RunState } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { readResponse, type RestResponse } from './blockRig.ts';
import type { TestUser } from './users.ts';

export interface SetRefusal {
  readonly code?: string;
  readonly errors?: readonly { readonly path: string; readonly code: string }[];
  readonly missing?: MissingParts;
}

export const fromStep = (step: string, pointer = '') => ({ mode: 'from', step, pointer }) as const;
export const fixedValue = (value: unknown) => ({ mode: 'fixed', value }) as const;

export async function saveSet(
  user: TestUser,
  steps: readonly object[],
  extraFields: object = {},
): Promise<SetView> {
  const { status, body } = await readResponse(
    user.post('/api/mcp/sets', { title: 'Set', steps, ...extraFields }),
  );
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return SetView.parse(body);
}

export async function shareSet(owner: TestUser, id: string, users: readonly TestUser[]): Promise<void> {
  const updated = users.map(({ id: user }) => ({
    ...{ type: 'user', id: user, accessRoleId: 'mcpServer_viewer' },
  }));
  const request = { updated, removed: [], public: false };
  const { status, body } = await readResponse(owner.send('PUT', `/api/permissions/set/${id}`, request));
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

export const checkToolSet = async (user: TestUser, id: string, body: object = {}) =>
  SetCheckView.parse((await readResponse(user.post(`/api/mcp/sets/${id}/check`, body))).body);

/** Asks for a run; what was answered. */
export const requestRun = (user: TestUser, id: string, body: object = {}) =>
  readResponse<RunView & SetRefusal>(user.post(`/api/mcp/sets/${id}/run`, body));

export const requestResume = (user: TestUser, id: string, body: object = {}) =>
  readResponse<RunView & SetRefusal>(user.post(`/api/mcp/runs/${id}/resume`, body));

export const requestCancel = (user: TestUser, id: string) =>
  readResponse<RunView & SetRefusal>(user.post(`/api/mcp/runs/${id}/cancel`, {}));

/** Begins a run that must begin; its id. */
export async function startRun(user: TestUser, id: string, body: object = {}): Promise<string> {
  const { status, body: run } = await requestRun(user, id, body);
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(run)}`);
  return RunView.parse(run).id;
}

export const readRun = async (user: TestUser, id: string): Promise<RunView> =>
  RunView.parse((await readResponse(user.get(`/api/mcp/runs/${id}`))).body);

/** How it stands once nobody is at it any more. */
export async function waitForRunEnd(
  user: TestUser,
  id: string,
  excludedState: RunState = 'running',
): Promise<RunView> {
  return eventually(`a run that is not ${excludedState} any more`, async () => {
    const body = await readRun(user, id);
    return body.state !== excludedState && body;
  });
}

export async function runToEnd(user: TestUser, id: string, body: object = {}): Promise<RunView> {
  return waitForRunEnd(user, await startRun(user, id, body));
}

export async function resumeToEnd(user: TestUser, id: string, body: object = {}): Promise<RunView> {
  const { status, body: run } = await requestResume(user, id, body);
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(run)}`);
  return waitForRunEnd(user, id);
}

export const readStates = ({ state, steps }: RunView) => [state, ...steps.map((step) => step.state)];

export type RunResponse = RestResponse<RunView & SetRefusal>;
