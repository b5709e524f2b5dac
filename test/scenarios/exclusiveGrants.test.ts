import { systemClock } from '@behalf/kernel';
import { createFakeClock, eventually, type ScriptedTool } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { readAuthMeta, createSignedInRig } from './grantCalls.ts';
import { createGrantRigs } from './grantRig.ts';
import type { TestUser } from './users.ts';

const createRig = createGrantRigs();

/** A tool that ends when it is told to, and knows by which token it runs how often at once. */
function createBlockingTool() {
  const runningCalls: { readonly by: string; readonly end: () => void }[] = [];
  const most = new Map<string, number>();
  const of = (by: string) => runningCalls.filter((one) => one.by === by);
  const end = (by: string) => {
    const at = runningCalls.findIndex((one) => one.by === by);
    runningCalls.splice(at, 1)[0]?.end();
  };
  const slow: ScriptedTool = {
    name: 'slow',
    async handler(_args, { request }) {
      const by = String(request.headers.authorization);
      await new Promise<void>((resolve) => {
        runningCalls.push({ by, end: resolve });
        most.set(by, Math.max(most.get(by) ?? 0, of(by).length));
      });
      return { content: [] };
    },
  };
  return { tools: [{ name: 'echo' }, slow], most, of, end };
}

describe('a credential for one call at a time', () => {
  test('is its user’s alone: others do not wait for it', async () => {
    const { tools, most, of, end } = createBlockingTool();
    const rig = await createRig({ names: ['Ada', 'Bob'], mcp: { tools }, server: { exclusive: true } });
    const [ada, bob] = rig.users as [TestUser, TestUser];
    const tokens: string[] = [];
    for (const who of [ada, bob]) {
      await rig.connectUser(who);
      await who.call('notes', 'echo');
      tokens.push(`Bearer ${rig.mcp.guardedRequests.at(-1)?.bearer ?? ''}`);
    }
    const [ofAda = '', ofBob = ''] = tokens;
    const calls = [ada, ada, ada, bob].map((who) => who.call('notes', 'slow'));
    await eventually('both are at it', () => of(ofAda).length > 0 && of(ofBob).length > 0);
    for (let turn = 0; turn < 3; turn += 1) {
      await eventually('the next one has its turn', () => of(ofAda).length > 0);
      end(ofAda);
    }
    end(ofBob);
    for (const { body } of await Promise.all(calls)) expect(body).toMatchObject({ isError: false });
    expect([most.get(ofAda), most.get(ofBob)]).toEqual([1, 1]);
  });

  test('is not waited for without end', async () => {
    const { tools, of, end } = createBlockingTool();
    const clock = createFakeClock(systemClock.now());
    const server = { exclusive: true, timeout: 250_000 };
    const rig = await createSignedInRig(createRig, { mcp: { tools }, server, clock });
    const { ada } = rig;
    const token = `Bearer ${rig.mcp.guardedRequests.at(-1)?.bearer ?? ''}`;
    const first = ada.call('notes', 'slow');
    await eventually('it is at it', () => of(token).length === 1);
    let answered: Awaited<ReturnType<TestUser['call']>> | undefined;
    const second = ada.call('notes', 'slow').then((answer) => (answered = answer));
    await eventually('the other gives up', async () => {
      await clock.advance(2_000);
      return answered !== undefined;
    });
    expect(await second).toMatchObject({ status: 503, body: { code: 'UPSTREAM_AUTH_UNAVAILABLE' } });
    expect(of(token)).toHaveLength(1);
    // Who had it is none the worse, and neither is who comes next.
    end(token);
    expect((await first).body).toMatchObject({ isError: false });
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });
});

describe('an administrator who wants everybody to sign in again', () => {
  test('is told at once, and stops calls when the token ends', async () => {
    const rig = await createSignedInRig(createRig, {
      names: ['Ada', { name: 'Root', role: 'ADMIN' }],
      as: { lifetimeS: 600 },
    });
    const { ada, as, mcp, clock, connectUser, listCredentials } = rig;
    const [, root] = rig.users as [TestUser, TestUser];
    const marked = await root.post('/api/admin/credentials/reauth', { serverName: 'notes' });
    expect(await marked.json()).toEqual({ marked: 1 });
    expect(await listCredentials(ada)).toMatchObject([
      { status: 'rejected', reason: 'interaction_required' },
    ]);
    // What lives is used to its end, and not renewed.
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
    clock.advance(601_000);
    const { tokenHits } = as.counters;
    const from = mcp.received('tools/call').length;
    const { status, body } = await ada.call('notes', 'echo');
    expect([status, body.isError]).toEqual([200, true]);
    expect(readAuthMeta(body)).toMatchObject({
      ...{ code: 'needs_reauth', reason: 'interaction_required', server: 'notes' },
      ...{ connectUrl: '/servers/notes', retryable: false },
    });
    expect([as.counters.tokenHits, mcp.received('tools/call').length]).toEqual([tokenHits, from]);
    expect((await connectUser(ada)).pathname).toBe('/oauth/success');
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
    expect(await listCredentials(ada)).toMatchObject([{ status: 'active', label: 'default' }]);
  });
});
