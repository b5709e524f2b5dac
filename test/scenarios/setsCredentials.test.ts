import { createHash } from 'node:crypto';
import type { RunView } from '@behalf/contracts';
import type { ScriptedTool } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { readResponse, saveBlock, shareBlock, sharingSettings } from './blockRig.ts';
import { createGrantRigs } from './grantRig.ts';
import type { TestUser } from './users.ts';
import {
  requestResume,
  requestRun,
  fromStep,
  runToEnd,
  resumeToEnd,
  saveSet,
  shareSet,
  readStates,
} from './setRig.ts';

const said = (text: string) => ({ content: [{ type: 'text', text }] });

/** A name of it that is not the token: what is shown to a server is masked in what it answers. */
function fingerprint(authorization: unknown): string {
  if (typeof authorization !== 'string') return 'nothing';
  return `Bearer ${createHash('sha256').update(authorization).digest('hex').slice(0, 16)}`;
}

const needsText = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

/** Answers with which token it was shown. */
const whoami: ScriptedTool = {
  name: 'whoami',
  inputSchema: needsText,
  handler: (_args, { request }) => said(fingerprint(request.headers['authorization'])),
};

const shown = (run: RunView) =>
  run.steps.map(({ result }) => (result?.content?.[0] as { text?: string } | undefined)?.text);
const inputs = { a: { text: 'x' } };

describe('a set over servers where each user signs in', () => {
  const createRig = createGrantRigs();

  async function begin(settings: object = {}) {
    const rig = await createRig({
      ...{ names: ['Ada', 'Bob'], mcp: { tools: [whoami] }, settings: sharingSettings },
      ...settings,
    });
    const [ada, bob] = rig.users as [TestUser, TestUser];
    expect((await rig.connectUser(ada)).pathname).toBe('/oauth/success');
    const block = (await saveBlock(ada, { server: 'notes', tool: 'whoami' })).id;
    const { id } = await saveSet(ada, [
      { key: 'a', block },
      { key: 'b', block, inputs: { text: fromStep('a') } },
    ]);
    await shareSet(ada, id, [bob]);
    await shareBlock(ada, block, [bob]);
    return { ...rig, ada, bob, id, block };
  }

  test('inputs and credentials of all steps are named in one answer, and nothing was asked of anybody', async () => {
    const { bob, id, block, mcp, as, connectUser } = await begin();
    const visits = mcp.guardedRequests.length;
    const before = as.counters.tokenHits;
    const { status, body } = await requestRun(bob, id);
    const need = { kind: 'sign_in', server: 'notes', reason: 'absent', connectUrl: '/servers/notes' };
    expect([status, body.code, body.missing]).toMatchObject([
      ...[422, 'SET_INCOMPLETE'],
      {
        inputs: [{ step: 'a', block, name: 'text' }],
        credentials: [{ needs: [{ ...need, blocks: [block], steps: ['a', 'b'] }] }],
      },
    ]);
    expect([mcp.guardedRequests.length - visits, as.counters.tokenHits - before]).toEqual([0, 0]);
    expect((await readResponse(bob.get(`/api/mcp/sets/${id}/runs`))).body).toEqual({ runs: [], next: null });
    await connectUser(bob);
    expect((await runToEnd(bob, id, { inputs })).state).toBe('succeeded');
  });

  test('waits for a sign-in that is needed in the middle, and goes on after it without repeating what is done', async () => {
    let isOver = false;
    const rig = await begin();
    const { ada, id, mcp, connectUser, as } = rig;
    mcp.change({
      tools: [
        {
          ...whoami,
          handler: async (args, call) => {
            // After the first step the sign-in is deleted: the second has none.
            if (!isOver) {
              isOver = true;
              expect((await ada.send('DELETE', '/api/mcp/notes/credentials/default')).status).toBe(200);
            }
            return whoami.handler?.(args, call) ?? {};
          },
        },
      ],
    });
    const run = await runToEnd(ada, id, { inputs });
    expect([readStates(run), run.steps[1]?.wait, run.resumable]).toMatchObject([
      ['waiting', 'succeeded', 'waiting'],
      { kind: 'sign_in', server: 'notes', connectUrl: '/servers/notes' },
      true,
    ]);
    const tooEarly = await requestResume(ada, run.id);
    expect([tooEarly.body.code, tooEarly.body.missing?.credentials.length]).toEqual(['SET_INCOMPLETE', 1]);
    await connectUser(ada);
    const calls = mcp.received('tools/call').length;
    expect(readStates(await resumeToEnd(ada, run.id))).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(mcp.received('tools/call')).toHaveLength(calls + 1);
    expect(as.counters.tokenHits).toBeGreaterThan(0);
  });

  test('a credential that a run names and that is deleted is absent: neither another one nor none takes its place', async () => {
    const server = { requiresOAuth: undefined, auth: 'optional' };
    const { ada, id, connectUser, startSignIn, mcp } = await begin({ server });
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    const credentials = { a: 'work', b: 'work' };
    const first = await runToEnd(ada, id, { inputs, credentials });
    expect(first.state).toBe('succeeded');
    await ada.send('DELETE', '/api/mcp/notes/credentials/work');
    const from = mcp.guardedRequests.length;
    const { status, body } = await requestRun(ada, id, { inputs, credentials });
    expect([status, body.missing?.credentials[0]?.needs]).toMatchObject([
      422,
      [{ kind: 'sign_in', reason: 'absent', label: 'work', steps: ['a', 'b'] }],
    ]);
    expect(mcp.guardedRequests.length - from).toBe(0);
  });

  test('200 runs of one set by two users at once, each with their own token alone; what its author ends is theirs', async () => {
    const { ada, bob, id, connectUser } = await begin();
    await connectUser(bob);
    const users = [ada, bob] as const;
    const own: (string | undefined)[] = [];
    for (const who of users) {
      const [first, second] = shown(await runToEnd(who, id, { inputs }));
      expect([first?.startsWith('Bearer '), second]).toEqual([true, first]);
      own.push(first);
    }
    expect(new Set(own).size).toBe(2);
    await Promise.all(
      Array.from({ length: 10 }, async (_, lane) => {
        for (let turn = 0; turn < 20; turn += 1) {
          const which = (lane + turn) % 2;
          expect(shown(await runToEnd(users[which]!, id, { inputs }))).toEqual([own[which], own[which]]);
        }
      }),
    );
    await ada.send('DELETE', '/api/mcp/notes/credentials/default');
    expect(shown(await runToEnd(bob, id, { inputs }))).toEqual([own[1], own[1]]);
    expect((await requestRun(ada, id, { inputs })).body.code).toBe('SET_INCOMPLETE');
  }, 120_000);
});
