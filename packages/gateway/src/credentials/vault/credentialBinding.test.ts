import { createKeyring, LightCancellation, systemRandom } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  wait,
  createVaultRig,
} from '../../../test/vaultRig.ts';
import { toCredentialSealContext, credentialId } from '../../ports/index.ts';
import { checkTimings, createVault, scaledTimings, vaultTimings } from './createVault.ts';
import { openTokens } from './tokenPair.ts';
import type { VaultParts } from './vault.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

describe('what a credential belongs to', () => {
  test('tokens moved into another row, address or generation do not open', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.signIn(credentialKey('bob'));
    const alice = await rig.record();
    const moves = [
      { principal: 'user:bob' },
      { tenant: 'other' },
      { serverId: 'mail' },
      { kind: 'static' as const },
      { label: 'second' },
      { canonicalUrl: 'https://attacker.example.com/mcp' },
      { issuer: 'https://attacker.example.com' },
      { clientId: 'other' },
      { generation: 2 },
      { tokenSeq: 2 },
    ];
    expect(openTokens(rig.keyring, alice)).toBeDefined();
    for (const move of moves) expect(openTokens(rig.keyring, { ...alice, ...move })).toBeUndefined();
    // Into Bob's row, in the store.
    const bob = await rig.record(credentialKey('bob'));
    await rig.store.credentials.replace(bob.id, { generation: 1 }, { sealed: alice.sealed });
    await rig.store.changes.publish({ topic: 'credentials', id: bob.id });
    expect(await rig.vault.token(credentialKey('bob'))).toMatchObject({
      kind: 'needs_reauth',
      reason: 'unreadable',
    });
    expect(rig.server.counters.tokenHits).toBe(0);
  });

  test('who writes into the store does not choose where tokens are sent', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    const { id, generation } = await rig.record();
    const { origin } = rig.server;
    const otherEndpoints = { ...rig.endpoints, token: `${origin}/x`, revocation: `${origin}/y` };
    await rig.store.credentials.replace(id, { generation }, { endpoints: otherEndpoints });
    await rig.clock.advance(HOUR);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(rig.server.counters.refreshHits).toBe(1);
    await rig.store.credentials.replace(id, { generation }, { endpoints: otherEndpoints });
    expect(await rig.vault.disconnect(credentialKey())).toEqual({ existed: true, revoked: 'yes' });
  });

  test('another address, issuer, client or resource leaves the old token unsent', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    expectHeldToken(await rig.vault.token(credentialKey()));
    const { binding } = rig.definition;
    const changes = [
      { canonicalUrl: 'https://files.example.com/other' },
      { issuer: 'https://other.example.com' },
      { clientId: 'other' },
      { resource: null },
    ];
    for (const change of changes) {
      rig.definition.binding = { ...binding, ...change };
      await rig.store.changes.publish({ topic: 'servers', id: 'files' });
      expect(rig.vault.peek(credentialKey())).toBeUndefined();
      const unbound = { kind: 'needs_reauth', reason: 'unbound' };
      expect(await rig.vault.token(credentialKey())).toMatchObject(unbound);
      expect(await rig.vault.recover(credentialKey(), accessToken)).toMatchObject(unbound);
      expect(await rig.vault.find(credentialKey())).toMatchObject({ status: 'unbound', reason: 'unbound' });
    }
    rig.definition.isGone = true;
    await rig.store.changes.publish({ topic: 'settings', id: '*' });
    expect(await rig.vault.token(credentialKey())).toMatchObject({ reason: 'unbound' });
    expect(rig.server.counters.tokenHits).toBe(0);
    // Nothing was thrown away: a definition that is put right brings it back.
    rig.definition.isGone = false;
    rig.definition.binding = binding;
    await rig.store.changes.publish({ topic: 'overrides', id: 'files' });
    expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(accessToken);
  });

  test('a row that does not open survives, and is used again with its key', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    const before = await rig.record();
    const otherReplica = rig.startReplica(createKeyring([new Uint8Array(32).fill(9)], systemRandom));
    const unreadable = { kind: 'needs_reauth', reason: 'unreadable' };
    expect(await otherReplica.vault.token(credentialKey())).toMatchObject(unreadable);
    expect(await otherReplica.vault.recover(credentialKey(), accessToken)).toMatchObject(unreadable);
    expect(await otherReplica.vault.find(credentialKey())).toMatchObject({ status: 'unreadable' });
    expect(await otherReplica.vault.list('default', 'user:alice')).toHaveLength(1);
    await rig.clock.advance(HOUR);
    expect(await otherReplica.vault.token(credentialKey())).toMatchObject(unreadable);
    expect(rig.server.counters.tokenHits).toBe(0);
    expect((await rig.record()).sealed).toBe(before.sealed);
    expect(
      expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken,
    ).not.toBe(accessToken);
  });

  test('hashes outlive a change of keys, and tell nobody a token', async () => {
    const rig = await createVaultRig();
    const { accessToken, refreshToken } = await rig.signIn();
    const record = await rig.record();
    const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const both = createKeyring([newKey, oldKey], systemRandom);
    const sealed = both.rewrap(record.sealed!, toCredentialSealContext(record));
    const { id, generation, tokenSeq } = record;
    await rig.store.credentials.replace(id, { generation, tokenSeq }, { sealed });
    const next = rig.startReplica(createKeyring([newKey], systemRandom));
    expect(expectHeldToken(await next.vault.token(credentialKey())).accessToken).toBe(accessToken);
    await rig.clock.advance(HOUR);
    expectHeldToken(await rig.advanceUntilSettled(next.vault.token(credentialKey())));
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
    // The same tokens in another generation have other hashes.
    await rig.vault.commit({
      ...credentialKey('bob'),
      binding: rig.definition.binding,
      endpoints: null,
      tokens: { accessToken, refreshToken, tokenType: 'bearer', expiresInS: null },
      sentAt: 0,
      scopesRequested: '',
      baseGeneration: 0,
    });
    const twin = await rig.record(credentialKey('bob'));
    expect(twin.atHash).not.toBe(record.atHash);
    expect(twin.rtHash).not.toBe(record.rtHash);
  });

  test('no token stands in a record, a summary, a log or an event', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.server.change({ dropAnswers: 1 });
    await rig.advanceUntilSettled(rig.vault.token(credentialKey()));
    await rig.signIn(credentialKey('bob'));
    const shown = JSON.stringify([
      await rig.record(),
      await rig.vault.list('default', 'user:bob'),
      await rig.vault.find(credentialKey()),
      rig.logged,
      rig.events,
      await rig.store.pendingWrites.find(credentialId(credentialKey())),
    ]);
    for (const secret of rig.server.secrets) expect(shown).not.toContain(secret);
    expect(await rig.vault.find(credentialKey('bob'))).toMatchObject({
      hasRefreshToken: true,
      status: 'active',
      reason: null,
    });
  });
});

describe('one user at a time', () => {
  test('one holder in all processes, kept alive, and waited for so long at most', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    const [first, second] = rig.replicas;
    const neverAborted = new LightCancellation();
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise<void>((resolve) => void rig.clock.timer(1_000, resolve));
      inside -= 1;
    };
    const calls = [first!, second!, first!, second!].map(({ vault }) =>
      vault.withExclusiveUse(credentialKey(), neverAborted, work),
    );
    await rig.advanceUntilSettled(Promise.all(calls));
    expect(most).toBe(1);

    // Longer than a lease lives: its holder keeps it.
    let end = () => {};
    const long = first!.vault.withExclusiveUse(
      credentialKey(),
      neverAborted,
      () => new Promise<void>((resolve) => (end = resolve)),
    );
    await rig.clock.advance(60_000);
    const waits = second!.vault
      .withExclusiveUse(credentialKey(), neverAborted, async () => 'in')
      .catch((error: unknown) => error);
    const sameProcess = first!.vault
      .withExclusiveUse(credentialKey(), neverAborted, async () => 'in')
      .catch((error: unknown) => error);
    const leaving = new LightCancellation();
    const left = second!.vault
      .withExclusiveUse(credentialKey(), leaving, async () => 'in')
      .catch((error: unknown) => error);
    await rig.clock.advance(1_000);
    leaving.abort(new Error('had enough'));
    await rig.clock.advance(1_000);
    expect(await left).toMatchObject({ message: 'had enough' });
    await rig.clock.advance(30_000);
    expect(await waits).toMatchObject({ code: 'UPSTREAM_AUTH_UNAVAILABLE' });
    expect(await sameProcess).toMatchObject({ code: 'UPSTREAM_AUTH_UNAVAILABLE' });
    end();
    await long;
    expect(
      await rig.advanceUntilSettled(
        second!.vault.withExclusiveUse(credentialKey(), neverAborted, async () => 'in'),
      ),
    ).toBe('in');
    // Work that fails gives it back.
    const failing = first!.vault.withExclusiveUse(credentialKey(), neverAborted, async () =>
      Promise.reject(new Error('broken')),
    );
    await expect(failing).rejects.toThrow('broken');
    expect(
      await rig.advanceUntilSettled(
        second!.vault.withExclusiveUse(credentialKey(), neverAborted, async () => 'in'),
      ),
    ).toBe('in');
  });
});

describe('the line before a credential', () => {
  test('is there while somebody is still at it, also when the last in line has given up', async () => {
    const rig = await createVaultRig();
    // Only the line keeps them apart then.
    rig.faults.leasesDown = true;
    const neverAborted = new LightCancellation();
    const inside: string[] = [];
    let end = () => {};
    const first = rig.vault.withExclusiveUse(credentialKey(), neverAborted, async () => {
      inside.push('first');
      await new Promise<void>((resolve) => (end = resolve));
      inside.push('first is done');
    });
    const second = rig.vault
      .withExclusiveUse(credentialKey(), neverAborted, async () => void inside.push('second'))
      .catch((error: unknown) => error);
    await rig.clock.advance(30_000);
    expect(await second).toMatchObject({ code: 'UPSTREAM_AUTH_UNAVAILABLE' });
    const third = rig.vault.withExclusiveUse(
      credentialKey(),
      neverAborted,
      async () => void inside.push('third'),
    );
    await rig.clock.advance(1_000);
    end();
    await Promise.all([first, third]);
    expect(inside).toEqual(['first', 'first is done', 'third']);
  });
});

describe('times', () => {
  test('that do not outlast each other are refused', () => {
    expect(checkTimings(vaultTimings)).toEqual(vaultTimings);
    expect(checkTimings(scaledTimings(0.05))).toMatchObject({ postMs: 500, claimMs: 1_000 });
    const broken = [
      { postMs: 20_000 },
      { sendWithinMs: 10_000 },
      { claimMs: 25_000 },
      { leaseMs: 30_000 },
      { waitMs: 25_000 },
      { leaseRenewMs: 13_000 },
      { holdMs: 20_000 },
      { pollMs: 0 },
      { postMs: Number.NaN },
    ];
    for (const change of broken)
      expect(() => checkTimings({ ...vaultTimings, ...change })).toThrow(RangeError);
    // Before anything else is looked at.
    expect(() => createVault({ timings: { waitMs: 1 } } as VaultParts)).toThrow(/leaseMs < waitMs/);
  });

  test('use is written down once a minute, and in nobody’s way', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    const id = credentialId(credentialKey());
    rig.faults.usageFails = true;
    expectHeldToken(await rig.vault.token(credentialKey()));
    await wait(5);
    expect(await rig.store.credentialUsage.find(id)).toBeNull();
    rig.faults.usageFails = false;
    await rig.clock.advance(59_000);
    expectHeldToken(await rig.vault.token(credentialKey()));
    await wait(5);
    expect(await rig.store.credentialUsage.find(id)).toBeNull();
    await rig.clock.advance(1_000);
    expectHeldToken(await rig.vault.token(credentialKey()));
    await wait(5);
    expect(await rig.store.credentialUsage.find(id)).toMatchObject({
      lastUsedAt: rig.clock.now(),
      refreshes: 0,
    });
  });
});
