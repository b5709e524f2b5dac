import type { ClaimRequest, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../system.ts';
import { aCredential } from '../records.ts';
import { useStore, type OpenStore } from './useStore.ts';

const { id } = aCredential();
const request = (overrides: Partial<ClaimRequest> = {}): ClaimRequest => ({
  generation: 1,
  rtHash: 'rt-1',
  tokenSeq: 1,
  owner: 'me',
  ttlMs: 60_000,
  ...overrides,
});

/**
 * The contract of refresh claims, which keep several processes from using one refresh token (rotation revokes the
 * family).
 */
export function credentialClaimsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`claims of credentials on ${label}`, () => {
    const store = useStore(open);
    const insert = () => store().credentials.insert(aCredential());

    test('of 20 parallel claims one is given, with its times by the store’s clock', async () => {
      await insert();
      const before = await store().credentials.now();
      const claims = (
        await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            store().credentials.claim(id, request({ owner: `o${i}`, ttlMs: 30_000 })),
          ),
        )
      ).filter((claimed) => claimed !== null);
      expect(claims).toHaveLength(1);
      const [{ record, tookOver: isTakeover }] = claims as [NonNullable<(typeof claims)[0]>];
      expect(isTakeover).toBe(false);
      expect(record).toMatchObject({ claimSeq: 1, version: 2, rtHash: 'rt-1' });
      expect(record.claimOwner).toMatch(/^o\d+$/);
      expect(record.claimStartedAt).toBeGreaterThanOrEqual(before);
      expect(record.claimDeadline).toBe(record.claimStartedAt! + 30_000);
      expect(await store().credentials.findById(id)).toEqual(record);
    });

    test('a claim needs the generation, the very pair and refresh token, and an active credential', async () => {
      await insert();
      const { credentials } = store();
      expect(await credentials.claim(id, request({ generation: 2 }))).toBeNull();
      expect(await credentials.claim(id, request({ rtHash: 'rt-0' }))).toBeNull();
      expect(await credentials.claim(id, request({ tokenSeq: 2 }))).toBeNull();
      expect(await credentials.claim('nobody', request())).toBeNull();
      for (const status of ['rejected', 'revoked', 'unreadable', 'unbound'] as const) {
        await credentials.replace(id, { generation: 1 }, { status });
        expect(await credentials.claim(id, request())).toBeNull();
      }
      await credentials.replace(id, { generation: 1 }, { status: 'active' });
      expect(await credentials.claim(id, request())).not.toBeNull();
    });

    test('a settled claim is free at once and not in doubt, and the fence only grows', async () => {
      await insert();
      const { credentials } = store();
      for (let seq = 1; seq <= 3; seq += 1) {
        const claimed = await credentials.claim(id, request());
        expect(claimed).toMatchObject({ tookOver: false, record: { claimSeq: seq } });
        expect(await credentials.claim(id, request({ owner: 'other' }))).toBeNull();
        const settled = await credentials.replace(id, { generation: 1, claimSeq: seq }, {
          claimOwner: null,
          claimSeq: 0,
        } as object);
        expect(settled).toMatchObject({
          claimSeq: seq,
          claimOwner: null,
          claimStartedAt: null,
          claimDeadline: null,
        });
        // The claim is settled. A late settlement has no effect.
        const late = await credentials.replace(id, { generation: 1, claimSeq: seq }, { status: 'rejected' });
        expect(late).toBeNull();
      }
    });

    test('a claim past its deadline is taken over once, says so, and its holder settles no failure', async () => {
      await insert();
      const { credentials } = store();
      await credentials.claim(id, request({ owner: 'gone', ttlMs: 150 }));
      const next = await eventually('the claim to end', async () => {
        const attempts = await Promise.all(
          Array.from({ length: 5 }, (_, i) => credentials.claim(id, request({ owner: `o${i}` }))),
        );
        const claims = attempts.filter((claimed) => claimed !== null);
        expect(claims.length).toBeLessThanOrEqual(1);
        return claims[0];
      });
      expect(next).toMatchObject({ tookOver: true, record: { claimSeq: 2 } });
      expect(await credentials.extendClaim(id, 1, 'gone', 60_000)).toBe(false);
      const failed = { status: 'rejected', claimOwner: null } as const;
      expect(await credentials.replace(id, { generation: 1, claimSeq: 1 }, failed)).toBeNull();
      // The success still counts: this process has the only valid successor of the refresh token it sent.
      const pair = { rtHash: 'rt-2', sealed: 'v1.next', tokenSeq: 2, claimOwner: null };
      expect(await credentials.replace(id, { generation: 1, rtHash: 'rt-1' }, pair)).toMatchObject({
        rtHash: 'rt-2',
        claimSeq: 2,
        claimOwner: null,
      });
    });

    test('an extended claim outlives its first deadline', async () => {
      const { credentials } = store();
      await insert();
      const claimed = await credentials.claim(id, request({ ttlMs: 100 }));
      expect(await credentials.extendClaim(id, 1, 'other', 60_000)).toBe(false);
      expect(await credentials.extendClaim(id, 2, 'me', 60_000)).toBe(false);
      expect(await credentials.extendClaim(id, 1, 'me', 60_000)).toBe(true);
      const first = claimed!.record.claimDeadline!;
      await eventually('the first deadline to pass', async () => (await credentials.now()) > first);
      expect(await credentials.claim(id, request({ owner: 'other' }))).toBeNull();
      expect(await credentials.findById(id)).toMatchObject({ claimOwner: 'me', claimSeq: 1 });
      await credentials.replace(id, { generation: 1, claimSeq: 1 }, { claimOwner: null });
      expect(await credentials.extendClaim(id, 1, 'me', 60_000)).toBe(false);
    });

    test('an unrelated write between claim and persist is in nobody’s way', async () => {
      await insert();
      const { credentials, credentialUsage } = store();
      await credentials.insert(aCredential({ label: 'second' }));
      await credentials.claim(id, request());
      await credentialUsage.put({ id, lastUsedAt: 5_000, lastOutcome: 'ok', refreshes: 1 });
      await credentials.makeDefault(aCredential({ label: 'second' }).id);
      await credentials.makeDefault(id);
      await credentials.replace(id, { generation: 1 }, { scopesRequested: 'read write more' });
      await credentials.extendClaim(id, 1, 'me', 60_000);
      const condition = { generation: 1, rtHash: 'rt-1', claimSeq: 1 };
      const pair = { rtHash: 'rt-2', sealed: 'v1.next', tokenSeq: 2, claimOwner: null };
      expect(await credentials.replace(id, condition, pair)).toMatchObject({
        rtHash: 'rt-2',
        claimSeq: 1,
        claimOwner: null,
        scopesRequested: 'read write more',
      });
    });
  });
}
