import { createAuthorizationServerRecords } from '@behalf/gateway/authorization-server';
import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createAdapter } from './adapter.ts';

function createRig({ replayWindowMs = 30_000 } = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const records = createAuthorizationServerRecords({ store: store.authorizationServer, keyring, clock });
  const ended: string[] = [];
  const live = new Set(['g1']);
  const adapter = createAdapter({
    ...{ records, replayWindowMs, clock, clients: new Map() },
    grants: {
      find: async (id) => (live.has(id) ? ({} as never) : null),
      async end(id) {
        live.delete(id);
        ended.push(id);
      },
    },
  });
  return { clock, store, records, ended, live, adapter };
}

describe('what the library remembers', () => {
  test('is sealed, and found by who knows its id alone', async () => {
    const { adapter, store, clock } = createRig();
    const codes = adapter('AuthorizationCode');
    await codes.upsert('the-code', { grantId: 'g1', accountId: 'u1' }, 60);
    expect(await codes.find('the-code')).toEqual({ grantId: 'g1', accountId: 'u1' });
    expect(await adapter('RefreshToken').find('the-code')).toBeUndefined();
    const stored = JSON.stringify(await store.raw.page('authorizationServer', null, 10));
    for (const text of ['the-code', 'g1', 'u1']) expect(stored).not.toContain(`"${text}"`);
    await clock.advance(60_000);
    expect(await codes.find('the-code')).toBeUndefined();
  });

  test('a code that another process has used ends its grant', async () => {
    const { adapter, ended } = createRig();
    const codes = adapter('AuthorizationCode');
    await codes.upsert('the-code', { grantId: 'g1' }, 60);
    // Both looked before either used it.
    await codes.consume('the-code');
    await expect(codes.consume('the-code')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(ended).toEqual(['g1']);
    expect(await codes.find('the-code')).toMatchObject({ consumed: expect.any(Number) as unknown });
  });

  test('a proof that is good once is good in one process', async () => {
    const { adapter } = createRig();
    const proofs = adapter('ReplayDetection');
    await proofs.upsert('a-jti', { jti: 'a-jti' }, 60);
    await expect(proofs.upsert('a-jti', { jti: 'a-jti' }, 60)).rejects.toMatchObject({
      error: 'invalid_client',
    });
  });

  test('a refresh token that was used is used, when its time is over', async () => {
    const { adapter, clock, ended } = createRig();
    const tokens = adapter('RefreshToken');
    await tokens.upsert('first', { grantId: 'g1' }, 3_600);
    await tokens.consume('first');
    await clock.advance(29_999);
    expect(await tokens.find('first')).toEqual({ grantId: 'g1' });
    await expect(tokens.consume('first')).resolves.toBeUndefined();
    await clock.advance(1);
    expect(await tokens.find('first')).toMatchObject({ consumed: expect.any(Number) as unknown });
    await expect(tokens.consume('first')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(ended).toEqual(['g1']);
  });

  test('and when its successor is', async () => {
    const { adapter, records } = createRig();
    const tokens = adapter('RefreshToken');
    for (const id of ['first', 'second']) await tokens.upsert(id, { grantId: 'g1' }, 3_600);
    await tokens.consume('first');
    await records.add('Successor', 'first', { token: 'second' }, { ttlMs: 60_000 });
    expect(await tokens.find('first')).toEqual({ grantId: 'g1' });
    await tokens.consume('second');
    expect(await tokens.find('first')).toMatchObject({ consumed: expect.any(Number) as unknown });
  });

  test('a grant is there while its session is', async () => {
    const { adapter, live, ended } = createRig();
    const grants = adapter('Grant');
    await grants.upsert('g1', { accountId: 'u1' }, 60);
    expect(await grants.find('g1')).toEqual({ accountId: 'u1' });
    live.delete('g1');
    expect(await grants.find('g1')).toBeUndefined();
    await grants.destroy('g1');
    expect(ended).toEqual(['g1']);
  });

  test('a client that nobody uses is forgotten after a day', async () => {
    const { adapter, clock } = createRig();
    const clients = adapter('Client');
    await clients.upsert('c1', { client_id: 'c1' }, undefined);
    await clock.advance(24 * 60 * 60 * 1000 - 1);
    expect(await clients.find('c1')).toEqual({ client_id: 'c1' });
    await clock.advance(1);
    expect(await clients.find('c1')).toBeUndefined();
  });
});
