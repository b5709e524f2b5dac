import { RunView, SetCheckView, SetView, type MissingParts, type RunState } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { answered, type Answered } from './blockScene.ts';
import type { Person } from './people.ts';

export interface Refusal {
  readonly code?: string;
  readonly errors?: readonly { readonly path: string; readonly code: string }[];
  readonly missing?: MissingParts;
}

export const from = (step: string, pointer = '') => ({ mode: 'from', step, pointer }) as const;
export const fixed = (value: unknown) => ({ mode: 'fixed', value }) as const;

export async function saveSet(who: Person, steps: readonly object[], more: object = {}): Promise<SetView> {
  const { status, body } = await answered(who.post('/api/mcp/sets', { title: 'Set', steps, ...more }));
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return SetView.parse(body);
}

export async function shareSet(owner: Person, id: string, people: readonly Person[]): Promise<void> {
  const updated = people.map(({ id: user }) => ({
    ...{ type: 'user', id: user, accessRoleId: 'mcpServer_viewer' },
  }));
  const request = { updated, removed: [], public: false };
  const { status, body } = await answered(owner.send('PUT', `/api/permissions/set/${id}`, request));
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

export const checkSet = async (who: Person, id: string, body: object = {}) =>
  SetCheckView.parse((await answered(who.post(`/api/mcp/sets/${id}/check`, body))).body);

/** Asks for a run; what was answered. */
export const askRun = (who: Person, id: string, body: object = {}) =>
  answered<RunView & Refusal>(who.post(`/api/mcp/sets/${id}/run`, body));

export const askResume = (who: Person, id: string, body: object = {}) =>
  answered<RunView & Refusal>(who.post(`/api/mcp/runs/${id}/resume`, body));

export const askCancel = (who: Person, id: string) =>
  answered<RunView & Refusal>(who.post(`/api/mcp/runs/${id}/cancel`, {}));

/** Begins a run that must begin; its id. */
export async function beginRun(who: Person, id: string, body: object = {}): Promise<string> {
  const { status, body: run } = await askRun(who, id, body);
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(run)}`);
  return RunView.parse(run).id;
}

export const viewRun = async (who: Person, id: string): Promise<RunView> =>
  RunView.parse((await answered(who.get(`/api/mcp/runs/${id}`))).body);

/** How it stands once nobody is at it any more. */
export async function runEnded(who: Person, id: string, not: RunState = 'running'): Promise<RunView> {
  return eventually(`a run that is not ${not} any more`, async () => {
    const run = await viewRun(who, id);
    return run.state !== not && run;
  });
}

export async function ran(who: Person, id: string, body: object = {}): Promise<RunView> {
  return runEnded(who, await beginRun(who, id, body));
}

export async function resumed(who: Person, id: string, body: object = {}): Promise<RunView> {
  const { status, body: run } = await askResume(who, id, body);
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(run)}`);
  return runEnded(who, id);
}

export const states = ({ state, steps }: RunView) => [state, ...steps.map((step) => step.state)];

export type RunAnswered = Answered<RunView & Refusal>;
