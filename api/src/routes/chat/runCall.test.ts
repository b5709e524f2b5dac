import type { ChatCall } from '@behalf/contracts';
import { type Approvals, GatewayError, createApprovals } from '@behalf/gateway';
import { LightCancellation, createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock, eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { AnswerStopped, createAnswerRuns } from './answerRuns.ts';
import { createPendingApprovals } from './pendingDecisions.ts';
import { type ChatCallContext, type RunCallParts, runCall } from './runCall.ts';

const ada = aPrincipal();
const run: Parameters<Approvals['request']>[0] = {
  ...{
    principal: ada,
    server: { id: 's', revision: 'r', name: 's' },
    tool: 't',
    toolHash: 'h',
    argsHash: 'a',
  },
  ...{ argumentNames: [], door: 'chat' },
};

/** A call that asks first, and whatever `attempt` does once it was approved. */
async function rig(attempt: () => void, watched: (approvals: Approvals) => Partial<Approvals> = () => ({})) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const audited: string[] = [];
  const note = ({ action }: { action: string }) => void audited.push(action);
  const approvals = createApprovals({
    ...{ cache: store.cache('approvals'), leases: store.leases, clock, random: systemRandom },
    keyring: createKeyring([Buffer.alloc(32, 1)], systemRandom),
    audit: { note, record: async (event) => note(event) },
  });
  const [cache, changes] = [store.cache('chats'), store.changes];
  const running = createAnswerRuns({ leases: store.leases, cache, changes, clock }).start(
    ada,
    new LightCancellation(),
  );
  await running.lockConversation('c');
  const decisions = createPendingApprovals({
    approvals: { ...approvals, ...watched(approvals) },
    cache,
    changes,
    clock,
  });
  let wasRequested = false;
  const parts = {
    ...{
      pendingApprovals: decisions,
      clock,
      inFlight: { acquire: () => undefined, release: () => undefined },
    },
    limits: { consume: () => wasRequested && attempt() },
    async observe() {
      wasRequested = true;
      if (await approvals.consume(run)) return { result: { content: [] } };
      throw new GatewayError('MCP_APPROVAL_REQUIRED', { approval: await approvals.request(run) });
    },
    problemOf: (error: unknown) => ({ problem: { code: 'INTERNAL', title: '', detail: String(error) } }),
  } as unknown as RunCallParts;
  const context = {
    ...{
      run: running,
      approvalRequests: new Map(),
      reauthenticate: async () => ada,
      createInbound: () => ({}),
    },
    emit: Object.assign(async () => undefined, { writeIfReady: () => undefined }),
  } as unknown as ChatCallContext;
  const call: ChatCall = {
    ...{ callId: '1', server: 's', serverTitle: 'S', tool: 't', arguments: {}, state: 'running' },
  };
  const ended = runCall(parts, context, call);
  const id = await eventually('the question', async () => {
    await clock.advance(0);
    return decisions.find(ada, 'c', '1');
  });
  return { approvals, decisions, running, call, ended, id, audited, clock };
}

type Rig = Awaited<ReturnType<typeof rig>>;

async function approve({ decisions, id, ended, clock }: Rig): Promise<void> {
  let isOver = false;
  const over = Promise.all([decisions.decide(ada, 'c', id, true), ended]).then(() => (isOver = true));
  await eventually('the end', async () => {
    await clock.advance(100);
    return isOver;
  });
  await over;
}

describe('an approval of a call', () => {
  test('is taken back where the call failed before it ran', async () => {
    const one = await rig(() => {
      throw new GatewayError('RATE_LIMITED');
    });
    await approve(one);
    expect(one.call.state).toBe('failed');
    expect(await one.approvals.stateOf(ada, one.id)).toBe('gone');
    expect(await one.approvals.consume(run)).toBe(false);
    expect(one.audited).toEqual(['approval.request', 'approval.approve', 'approval.withdraw']);
  });

  test('is taken back where the answer was stopped as it came', async () => {
    let stop: () => void = () => undefined;
    const one = await rig(
      () => undefined,
      (approvals) => ({
        async stateOf(...args) {
          const state = await approvals.stateOf(...args);
          if (state === 'approved') stop();
          return state;
        },
      }),
    );
    stop = () => one.running.stop('requested');
    await approve(one);
    expect([one.call.state, one.running.signal.reason]).toEqual(['cancelled', expect.any(AnswerStopped)]);
    expect(await one.approvals.consume(run)).toBe(false);
  });

  test('that was used leaves nothing to take back', async () => {
    const one = await rig(() => undefined);
    await approve(one);
    expect(one.call.state).toBe('done');
    expect(one.audited).toEqual(['approval.request', 'approval.approve']);
  });
});
