import { expect, test } from '@jest/globals';
import { advanceToExpiry, TOKEN_LIFETIME_MS, describeEachBackend } from './backends.ts';

describeEachBackend('many calls at the moment a token ends', ({ name, open, redis }) => {
  test('three processes with seventy calls each cost one token request, and all succeed', async () => {
    const stage = await open({ authorization: { delayMs: 150 } });
    const processes = await stage.startMany(3);
    await advanceToExpiry(stage, processes);
    expect(await stage.callFromAll(processes, { callsPerUser: 70 })).toEqual({
      succeeded: 210,
      failures: {},
      wrongUser: 0,
    });
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
  }, 60_000);

  test('rotation after rotation costs one token request each, however the calls are spread', async () => {
    const rotations = 6;
    const stage = await open({ authorization: { delayMs: 30 } });
    const processes = await stage.startMany(3);
    await advanceToExpiry(stage, processes);
    for (let rotation = 1; rotation <= rotations; rotation += 1) {
      const { succeeded, failures } = await stage.callFromAll(processes, { callsPerUser: 20, spreadMs: 80 });
      expect({ succeeded, failures }).toEqual({ succeeded: 60, failures: {} });
      expect(stage.authorization.counters).toMatchObject({ tokenHits: rotation, familyRevocations: 0 });
      await stage.advance(TOKEN_LIFETIME_MS);
    }
  }, 60_000);

  if (name === 'SQLite') return;

  test('without Redis the claim in the record alone keeps it at one token request', async () => {
    const stage = await open({ authorization: { delayMs: 150 } });
    const processes = await stage.startMany(3);
    await advanceToExpiry(stage, processes);
    await redis().stop();
    try {
      const { succeeded, failures } = await stage.callFromAll(processes, { callsPerUser: 20 });
      expect({ succeeded, failures }).toEqual({ succeeded: 60, failures: {} });
      expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
    } finally {
      await redis().start();
    }
  }, 60_000);

  // On one host there is one clock.
  test('clocks five minutes off steal no claim and start no loop', async () => {
    const stage = await open({ authorization: { delayMs: 300 } });
    const minutes = 60_000;
    const right = await stage.start();
    const processes = [
      right,
      await stage.start({ skewMs: 5 * minutes }),
      await stage.start({ skewMs: -5 * minutes }),
    ];
    await advanceToExpiry(stage, processes);
    let rotations = 0;
    const isOneMore = async (callsPerUser: number, spreadMs: number) => {
      const { succeeded, failures } = await stage.callFromAll(processes, { callsPerUser, spreadMs });
      expect({ succeeded, failures }).toEqual({ succeeded: 3 * callsPerUser, failures: {} });
      rotations += 1;
      expect(stage.authorization.counters).toMatchObject({ tokenHits: rotations, familyRevocations: 0 });
    };
    // Whosever clock a token was renewed by, it ends for everybody at the same time.
    for (const renewer of processes) {
      await renewer.calls({ users: ['ada'], callsPerUser: 1 });
      await stage.advance(TOKEN_LIFETIME_MS - 3 * minutes);
      await isOneMore(5, 0);
      await stage.advance(3 * minutes);
    }
    await isOneMore(20, 600);
  }, 60_000);
});
