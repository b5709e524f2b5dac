import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { AuditEvent } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Cache } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { APPROVAL_LIFETIME_MS, type ApprovalRequest, createApprovals } from './approvals.ts';

const ada: UserPrincipal = {
  kind: 'user',
  userId: 'u-ada',
  tenant: 'default',
  role: 'USER',
  email: 'ada@example.com',
  name: 'Ada',
  issuer: 'local',
  groups: [],
  authentication: { via: 'session', session: 's' },
};
const bob: UserPrincipal = { ...ada, userId: 'u-bob' };

const call: ApprovalRequest = {
  principal: ada,
  server: { id: 'tracker', revision: 'r1', name: 'tracker' },
  tool: 'create_issue',
  toolHash: 'tool-hash',
  argsHash: 'planted-argument-hash',
  argumentNames: ['title', 'body'],
  door: 'rest',
};

function rig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const stored = new Map<string, string>();
  const inner = store.cache('approvals');
  // The same cache, watched: what a thief of the store would see.
  const cache: Cache = {
    ...inner,
    set: async (key, value, ttlMs) => {
      stored.set(key, value);
      await inner.set(key, value, ttlMs);
    },
  };
  const audited: AuditEvent[] = [];
  const audit = {
    note: (event: AuditEvent) => void audited.push(event),
    record: async (event: AuditEvent) => void audited.push(event),
  };
  const keyring = createKeyring([new Uint8Array(32).fill(1)], systemRandom);
  const parts = { cache, leases: store.leases, keyring, clock, random: systemRandom, audit };
  /** Two processes over one store. */
  const [one, two] = [createApprovals(parts), createApprovals(parts)];
  return { clock, cache, stored, audited, audit, parts, one, two };
}

/** Who waits for a lease waits for the clock. */
async function passing<T>({ clock }: ReturnType<typeof rig>, work: Promise<T>): Promise<T> {
  const settled = work.catch(() => undefined);
  for (let i = 0; i < 20; i += 1) await clock.advance(25);
  await settled;
  return work;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'no error',
    (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
  );
}

describe('approvals', () => {
  test('an approved call runs once, on whichever replica', async () => {
    const { one, two } = rig();
    expect(await one.consume(call)).toBe(false);
    const { id } = await one.request(call);
    expect(await one.consume(call)).toBe(false);
    await two.decide(ada, id, true);
    expect(await one.consume(call)).toBe(true);
    expect(await one.consume(call)).toBe(false);
    expect(await two.consume(call)).toBe(false);
    // And the next one is another question.
    expect((await two.request(call)).id).not.toBe(id);
  });

  test('two calls at once, on two replicas, share no approval', async () => {
    const testRig = rig();
    const { id } = await testRig.one.request(call);
    await testRig.one.decide(ada, id, true);
    const ran = await passing(
      testRig,
      Promise.all(
        [testRig.one, testRig.two, testRig.one, testRig.two].map((replica) => replica.consume(call)),
      ),
    );
    expect(ran.filter(Boolean)).toHaveLength(1);
  });

  test('two approvals at once make one run', async () => {
    const testRig = rig();
    const { id } = await testRig.one.request(call);
    const codes = await passing(
      testRig,
      Promise.all([testRig.one, testRig.two].map((replica) => codeOf(replica.decide(ada, id, true)))),
    );
    expect(codes.sort()).toEqual(['MCP_APPROVAL_NOT_FOUND', 'no error']);
    const ran = await passing(testRig, Promise.all([testRig.one.consume(call), testRig.two.consume(call)]));
    expect(ran.filter(Boolean)).toHaveLength(1);
    expect(await codeOf(testRig.two.decide(ada, id, true))).toBe('MCP_APPROVAL_NOT_FOUND');
    expect(await testRig.one.consume(call)).toBe(false);
  });

  test('it is good for this user, server, tool and arguments alone', async () => {
    const { one } = rig();
    const { id } = await one.request(call);
    await one.decide(ada, id, true);
    const others: Partial<ApprovalRequest>[] = [
      { principal: bob },
      { principal: { ...ada, tenant: 'other' } },
      { server: { ...call.server, id: 'other' } },
      { server: { ...call.server, revision: 'r2' } },
      { tool: 'delete_issue' },
      { toolHash: 'changed' },
      { argsHash: 'changed' },
    ];
    for (const other of others)
      expect([other, await one.consume({ ...call, ...other })]).toEqual([other, false]);
    // It goes with the person, not with the session they approved in.
    expect(await one.consume({ ...call, principal: { ...ada, authentication: { via: 'bearer' } } })).toBe(
      true,
    );
  });

  test('nobody else can decide, and all refusals are alike', async () => {
    const { one, clock } = rig();
    const { id, expiresAt } = await one.request(call);
    for (const unrelatedUser of [bob, { ...ada, tenant: 'other' }]) {
      for (const approve of [true, false]) {
        expect(await codeOf(one.decide(unrelatedUser, id, approve))).toBe('MCP_APPROVAL_NOT_FOUND');
      }
      expect(await one.pending(unrelatedUser)).toEqual([]);
    }
    expect(await codeOf(one.decide(ada, 'unknown', true))).toBe('MCP_APPROVAL_NOT_FOUND');
    expect((await one.pending(ada)).map((waiting) => waiting.id)).toEqual([id]);
    await clock.advance(expiresAt - clock.now());
    expect(await codeOf(one.decide(ada, id, true))).toBe('MCP_APPROVAL_NOT_FOUND');
    expect(await one.consume(call)).toBe(false);
  });

  test('an API key cannot approve, not even for its owner', async () => {
    const { one } = rig();
    const { id } = await one.request(call);
    const program: UserPrincipal = { ...ada, authentication: { via: 'api_key', key: 'k', scopes: ['mcp'] } };
    expect(await codeOf(one.decide(program, id, true))).toBe('API_KEY_SCOPE');
    expect(await one.consume(call)).toBe(false);
  });

  test('a question waits ten minutes, and its answer is good for ten', async () => {
    const { one, clock } = rig();
    const response = await one.request(call);
    expect(response.expiresAt).toBe(clock.now() + APPROVAL_LIFETIME_MS);
    await clock.advance(APPROVAL_LIFETIME_MS - 1);
    await one.decide(ada, response.id, true);
    await clock.advance(APPROVAL_LIFETIME_MS - 1);
    expect(await one.pending(ada)).toEqual([]);
    const again = await one.request({ ...call, argsHash: 'other' });
    await one.decide(ada, again.id, true);
    await clock.advance(1);
    expect(await one.consume(call)).toBe(false);
    expect(await one.consume({ ...call, argsHash: 'other' })).toBe(true);
  });

  test('a call that already waits keeps its id, also when many ask at once', async () => {
    const testRig = rig();
    const response = await passing(
      testRig,
      Promise.all([testRig.one, testRig.two, testRig.one].map((replica) => replica.request(call))),
    );
    expect(new Set(response.map(({ id }) => id)).size).toBe(1);
    expect((await testRig.two.request(call)).id).toBe(response[0]?.id);
    expect(await testRig.one.pending(ada)).toMatchObject([
      { id: response[0]?.id, server: 'tracker', tool: 'create_issue', argumentNames: ['title', 'body'] },
    ]);
    expect(testRig.audited).toHaveLength(1);
  });

  test('different calls at once are all kept', async () => {
    const testRig = rig();
    const calls = [1, 2, 3, 4].map((n) => ({ ...call, argsHash: `args-${n}` }));
    await passing(
      testRig,
      Promise.all(calls.map((one, index) => (index % 2 ? testRig.one : testRig.two).request(one))),
    );
    expect(await testRig.one.pending(ada)).toHaveLength(4);
  });

  test('a question that nobody can answer any more is asked anew', async () => {
    const { one, cache } = rig();
    const lost = await one.request(call);
    await cache.delete(`waiting:${lost.id}`);
    const { id } = await one.request(call);
    expect(id).not.toBe(lost.id);
    expect((await one.pending(ada)).map((waiting) => waiting.id)).toEqual([id]);
  });

  test('a denial ends the question, and an approval that has not run', async () => {
    const { one } = rig();
    const first = await one.request(call);
    await one.decide(ada, first.id, false);
    expect([await one.pending(ada), await one.consume(call)]).toEqual([[], false]);
    const second = await one.request(call);
    expect(second.id).not.toBe(first.id);
    await one.decide(ada, second.id, true);
    await one.decide(ada, second.id, false);
    expect(await one.consume(call)).toBe(false);
  });

  test('the store shows no call, and a list put into it approves nothing', async () => {
    const { one, cache, stored } = rig();
    const { id } = await one.request(call);
    await one.request({ ...call, principal: bob });
    const everything = JSON.stringify([...stored]);
    for (const secret of ['planted-argument-hash', 'create_issue', 'tracker', 'title']) {
      expect(everything).not.toContain(secret);
    }
    const keyFor = (who: UserPrincipal) => [...stored.keys()].find((key) => key.includes(who.userId)) ?? '';
    // Another user's list, whole, in the place of this one's.
    await one.decide(bob, (await one.pending(bob))[0]?.id ?? '', true);
    await cache.set(keyFor(ada), stored.get(keyFor(bob)) ?? '', 60_000);
    expect(await codeOf(one.consume(call))).toContain('SealError');
    expect(await codeOf(one.decide(ada, id, true))).toContain('SealError');
  });

  test('a hundred wait at most, and room comes back', async () => {
    const { one, clock, stored } = rig();
    const ask = (n: number) => one.request({ ...call, argsHash: `args-${n}` });
    for (let n = 0; n < 100; n += 1) await ask(n);
    const marks = stored.size;
    const refusal = await ask(100).then(
      () => undefined,
      (error: unknown) => error as GatewayError,
    );
    expect([refusal?.code, refusal?.retryAfterMs]).toEqual(['MCP_RATE_LIMITED', APPROVAL_LIFETIME_MS]);
    expect(stored.size).toBe(marks);
    // Those that wait are not pushed out, and other users are not concerned.
    expect(await one.pending(ada)).toHaveLength(100);
    await one.request({ ...call, principal: bob });
    await one.decide(ada, (await ask(0)).id, false);
    await ask(100);
    await clock.advance(APPROVAL_LIFETIME_MS);
    expect(await one.pending(ada)).toEqual([]);
    await ask(101);
  });

  test('the names of arguments are cut to what a person can read', async () => {
    const { one } = rig();
    const argumentNames = Array.from({ length: 1_000 }, (_, n) => `${n}${'x'.repeat(1_000)}`);
    await one.request({ ...call, argumentNames });
    const [waiting] = await one.pending(ada);
    expect(waiting?.argumentNames).toHaveLength(50);
    expect(Math.max(...(waiting?.argumentNames ?? []).map((name) => name.length))).toBe(100);
  });

  test('each question and each answer is told, by names alone', async () => {
    const { one, audited } = rig();
    const { id } = await one.request(call);
    await one.decide(ada, id, true);
    await one.decide(ada, id, false);
    expect(audited.map(({ action }) => action)).toEqual([
      'approval.request',
      'approval.approve',
      'approval.deny',
    ]);
    for (const event of audited) {
      expect(event).toMatchObject({
        kind: 'call',
        tenant: 'default',
        actor: { kind: 'user', id: 'u-ada', by: 'session' },
        outcome: 'ok',
        server: 'tracker',
        serverId: 'tracker',
        tool: 'create_issue',
        arguments: ['title', 'body'],
        subject: id,
      });
    }
    expect(JSON.stringify(audited)).not.toContain('hash');
  });

  test('what cannot be written down is not approved', async () => {
    const { one, audit } = rig();
    const { id } = await one.request(call);
    audit.record = () => Promise.reject(new GatewayError('AUDIT_UNAVAILABLE'));
    expect(await codeOf(one.decide(ada, id, true))).toBe('AUDIT_UNAVAILABLE');
    expect(await one.consume(call)).toBe(false);
  });

  test('what became of a question is told to who was asked', async () => {
    const { one, two, clock } = rig();
    const { id } = await one.request(call);
    expect([await two.stateOf(ada, id), await two.stateOf(bob, id)]).toEqual(['waiting', 'gone']);
    await one.decide(ada, id, true);
    expect([await two.stateOf(ada, id), await two.stateOf(bob, id)]).toEqual(['approved', 'gone']);
    expect(await one.consume(call)).toBe(true);
    expect(await two.stateOf(ada, id)).toBe('gone');
    const denied = await one.request(call);
    await one.decide(ada, denied.id, false);
    expect(await two.stateOf(ada, denied.id)).toBe('gone');
    const late = await one.request(call);
    await clock.advance(APPROVAL_LIFETIME_MS);
    expect(await two.stateOf(ada, late.id)).toBe('gone');
  });

  test('while a decision is written down it is not over', async () => {
    const { one, two, cache } = rig();
    const { id } = await one.request(call);
    // As between the two steps of an approval, in another process.
    await cache.delete(`waiting:${id}`);
    expect(await two.stateOf(ada, id)).toBe('waiting');
  });

  test('a question that was taken back can neither be approved nor run', async () => {
    const { one, two, audited } = rig();
    const { id } = await one.request(call);
    await two.withdraw(bob, id);
    expect(await one.stateOf(ada, id)).toBe('waiting');
    await two.withdraw(ada, id);
    expect(await codeOf(one.decide(ada, id, true))).toBe('MCP_APPROVAL_NOT_FOUND');
    const approved = await one.request(call);
    await one.decide(ada, approved.id, true);
    await two.withdraw(ada, approved.id);
    expect(await one.consume(call)).toBe(false);
    expect(audited.map(({ action }) => action)).toEqual([
      'approval.request',
      'approval.withdraw',
      'approval.request',
      'approval.approve',
      'approval.withdraw',
    ]);
  });
});
