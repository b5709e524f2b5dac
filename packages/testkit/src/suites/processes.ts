import type {
  CredentialClaim,
  CredentialRecord,
  FlowInsertResult,
  OAuthClientRecord,
} from '@behalf/gateway/ports';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type StoreProcess, type StoreSpec, startStoreProcess } from '../processes/storeProcess.ts';
import { aCredential } from '../records.ts';
import { eventually } from '../system.ts';
import { aRole } from './access.ts';
import { aUser } from './accounts.ts';
import { aFlow, anOAuthClient } from './oauthFlows.ts';
import { anOverride } from './servers.ts';

/** Several real processes with one store. `primary` stores also hold users and tickets. */
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

const { id } = aCredential();
const claimBy = (owner: string, ttlMs: number) => [
  id,
  { generation: 1, rtHash: 'rt-1', tokenSeq: 1, owner, ttlMs },
];

/** Several real processes with one vault store: each exclusive operation succeeds in exactly one of them. */
export function vaultProcessesSuite(label: string, spec: () => Promise<StoreSpec>): void {
  describe(`the vault’s processes on ${label}`, () => {
    const running: StoreProcess[] = [];
    afterEach(async () => {
      await Promise.all(running.splice(0).map((process) => process.kill()));
    });
    const start = async () => {
      const storeSpec = await spec();
      const started = await Promise.all(Array.from({ length: 3 }, () => startStoreProcess(storeSpec)));
      running.push(...started);
      return started as [StoreProcess, StoreProcess, StoreProcess];
    };
    /** Each process makes five concurrent calls. */
    const callOnAll = <T>(processes: StoreProcess[], method: string, argsOf: (owner: string) => unknown[]) =>
      Promise.all(
        processes.flatMap((process, p) =>
          Array.from({ length: 5 }, (_, i) => process.call(method, argsOf(`p${p}-${i}`)) as Promise<T>),
        ),
      );

    test('of several processes one claims, one stores the next pair, and the fence counts every claim', async () => {
      const processes = await start();
      await processes[0].call('credentials.insert', [aCredential()]);
      for (let round = 1; round <= 10; round += 1) {
        const claimed = (
          await callOnAll<CredentialClaim | null>(processes, 'credentials.claim', (owner) => [
            id,
            { generation: 1, rtHash: `rt-${round}`, tokenSeq: 1, owner, ttlMs: 60_000 },
          ])
        ).filter((each) => each !== null);
        expect(claimed).toHaveLength(1);
        expect(claimed[0]).toMatchObject({ tookOver: false, record: { claimSeq: round } });
        const pair = { rtHash: `rt-${round + 1}`, sealed: `v1.${round}`, claimOwner: null };
        const condition = { generation: 1, rtHash: `rt-${round}` };
        const stored = await callOnAll<CredentialRecord | null>(processes, 'credentials.replace', () => [
          id,
          condition,
          pair,
        ]);
        expect(stored.filter((each) => each !== null)).toHaveLength(1);
      }
    }, 40_000);

    test('the claim of a killed process is taken over once, after its deadline, and its outcome is in doubt', async () => {
      const [victim, ...successors] = await start();
      await victim.call('credentials.insert', [aCredential()]);
      const ttl = 450;
      const startedAt = Date.now();
      expect(await victim.call('credentials.claim', claimBy('victim', ttl))).not.toBeNull();
      await victim.kill();
      const claimed = await eventually('the claim to be taken over', async () => {
        const claimed = await callOnAll<CredentialClaim | null>(successors, 'credentials.claim', (owner) =>
          claimBy(owner, 60_000),
        );
        const successful = claimed.filter((each) => each !== null);
        expect(successful.length).toBeLessThanOrEqual(1);
        return successful[0];
      });
      expect(Date.now() - startedAt).toBeGreaterThanOrEqual(ttl - 20);
      expect(claimed).toMatchObject({ tookOver: true, record: { claimSeq: 2 } });
    }, 40_000);

    test('of several processes one starts a sign-in, one takes its callback, and one registration counts', async () => {
      const processes = await start();
      const limits = { perUser: 5, perTenant: 200 };
      const started = await callOnAll<FlowInsertResult>(processes, 'oauthFlows.insert', (name) => {
        const flow = aFlow({ id: name });
        return [flow, limits, flow.createdAt];
      });
      expect(started.filter(({ kind }) => kind === 'inserted')).toHaveLength(1);
      expect(started.filter(({ kind }) => kind === 'pending')).toHaveLength(14);
      const [joined] = started.flatMap((each) => (each.kind === 'pending' ? [each.flow.id] : []));
      const transitions = await callOnAll(processes, 'oauthFlows.transition', () => [
        joined,
        { status: ['created'] },
        { status: 'exchanging' },
      ]);
      expect(transitions.filter((each) => each !== null)).toHaveLength(1);
      const clients = await callOnAll<OAuthClientRecord>(processes, 'oauthClients.insert', (clientId) => [
        anOAuthClient({ clientId }),
      ]);
      expect(new Set(clients.map(({ clientId }) => clientId)).size).toBe(1);
    }, 40_000);
  });
}
