import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../eventually.ts';
import { startStoreProcess, type StoreProcess, type StoreSpec } from '../processes/storeProcess.ts';
import { anOverride } from './overrides.ts';
import { aRole } from './roles.ts';
import { aUser } from './users.ts';

/** Several real processes on one store. `primary` ones keep users and tickets too. */
export function processesSuite(
  label: string,
  spec: () => Promise<StoreSpec>,
  { primary }: { primary: boolean },
): void {
  describe(`processes on ${label}`, () => {
    const running: StoreProcess[] = [];
    afterEach(async () => {
      await Promise.all(running.splice(0).map((process) => process.kill()));
    });
    const start = async (count: number) => {
      const storeSpec = await spec();
      const started = await Promise.all(Array.from({ length: count }, () => startStoreProcess(storeSpec)));
      running.push(...started);
      return started;
    };

    test('two processes never both hold a lease', async () => {
      const processes = await start(3);
      for (let round = 0; round < 10; round += 1) {
        const owners = await Promise.all(
          processes.flatMap((process) => [process.acquire('k', 60_000), process.acquire('k', 60_000)]),
        );
        expect(owners.filter((owner) => owner !== null)).toHaveLength(1);
        const released = await Promise.all(processes.map((process) => process.release('k')));
        expect(released.filter(Boolean)).toHaveLength(1);
      }
    }, 40_000);

    test('the lease of a killed process is taken over after its TTL, not before', async () => {
      const [victim, successor] = (await start(2)) as [StoreProcess, StoreProcess];
      const ttl = 450;
      const startedAt = Date.now();
      expect(await victim.acquire('k', ttl)).not.toBeNull();
      await victim.kill();
      await eventually('the lease to be taken over', () => successor.acquire('k', 60_000));
      expect(Date.now() - startedAt).toBeGreaterThanOrEqual(ttl - 20);
    }, 40_000);

    if (!primary) return;

    test('of several processes, one creates the first user', async () => {
      const processes = await start(3);
      const outcomes = await Promise.all(
        processes.flatMap((process, p) =>
          Array.from({ length: 5 }, (_, i) =>
            process.call('users.insertFirst', [aUser({ id: `u${p}-${i}`, subject: `s${p}-${i}` })]),
          ),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(await processes[0]!.call('users.count', [])).toBe(1);
    }, 40_000);

    test('of several processes, one consumes a ticket', async () => {
      const processes = await start(3);
      await processes[0]!.call('tickets.issue', [
        { hash: 't', kind: 'setup', createdAt: 0, expiresAt: 9e12 },
      ]);
      const outcomes = await Promise.all(
        processes.flatMap((process) =>
          Array.from({ length: 5 }, () => process.call('tickets.consume', ['setup', 't', 1])),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    }, 40_000);

    test('of several processes, one changes what all of them saw', async () => {
      const processes = await start(3);
      const [first] = processes as [StoreProcess];
      await first.call('users.insert', [aUser()]);
      await first.call('roles.insert', [aRole()]);
      await first.call('overrides.put', [anOverride(), null]);
      const each = (method: string, args: unknown[]) =>
        Promise.all(
          processes.flatMap((process) => Array.from({ length: 5 }, () => process.call(method, args))),
        );
      const updated = await each('users.update', ['u1', { role: 'ADMIN' }, 2, { role: 'USER' }]);
      expect(updated.filter(Boolean)).toHaveLength(1);
      const replaced = await each('roles.replace', [aRole({ version: 2 }), 1]);
      expect(replaced.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
      const stored = await each('overrides.put', [anOverride({ version: 2 }), 1]);
      expect(stored.filter((outcome) => outcome === 'stored')).toHaveLength(1);
      const removed = await each('overrides.remove', ['default', 'files', 2]);
      expect(removed.filter((outcome) => outcome === 'removed')).toHaveLength(1);
    }, 40_000);

    test('kill -9 during writes loses no acknowledged write', async () => {
      const storeSpec = await spec();
      const victim = await startStoreProcess(storeSpec);
      running.push(victim);
      const acknowledged: string[] = [];
      let n = 0;
      const writer = async () => {
        for (;;) {
          const id = `u${(n += 1)}`;
          await victim.call('users.insert', [aUser({ id, subject: id })]);
          acknowledged.push(id);
        }
      };
      const writers = Promise.allSettled([writer(), writer(), writer(), writer()]);
      await eventually('a good number of writes', () => acknowledged.length >= 100, 30_000);
      await victim.kill();
      await writers;
      const successor = await startStoreProcess(storeSpec);
      running.push(successor);
      const found = await Promise.all(acknowledged.map((id) => successor.call('users.findById', [id])));
      expect(found.filter((user) => user === null)).toHaveLength(0);
    }, 60_000);
  });
}
