import type {
  CredentialClaim,
  CredentialRecord,
  FlowInsertResult,
  OAuthClientRecord,
} from '@behalf/gateway/ports';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../eventually.ts';
import { startStoreProcess, type StoreProcess, type StoreSpec } from '../processes/storeProcess.ts';
import { aCredential } from './aCredential.ts';
import { anOAuthClient } from './oauthClients.ts';
import { aFlow } from './oauthFlows.ts';

const { id } = aCredential();
const claimBy = (owner: string, ttlMs: number) => [
  id,
  { generation: 1, rtHash: 'rt-1', tokenSeq: 1, owner, ttlMs },
];

/** Several real processes and what the token vault keeps: of each thing that may be done once, one does it. */
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
    /** Five times by each process, at once. */
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
