import { SealError, createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createUserSnapshot } from '../../../test/servers.ts';
import { variableId } from '../../ports/index.ts';
import { createUserVariables } from './userVariables.ts';
import { createVariableCache } from './variableCache.ts';

const alice = aPrincipal({ userId: 'alice' });
const text = { title: 'T', description: '' };
const server = createUserSnapshot({ customUserVars: { A: text, B: text } });

function rig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
  const parts = { store: store.variables, keyring, changes: store.changes, clock };
  const received: string[] = [];
  store.changes.subscribe(({ topic, id }) => received.push(`${topic} ${id}`));
  return { clock, store, received, variables: createUserVariables(parts), cache: createVariableCache(parts) };
}

describe('user variables', () => {
  test('tell what is set and never what it is; blanks are nothing', async () => {
    const { variables, received, store } = rig();
    expect(await variables.readSetFlags(server, alice)).toEqual({ A: false, B: false });
    await variables.set(server, alice, { A: 'x', B: '  ' });
    expect(await variables.readSetFlags(server, alice)).toEqual({ A: true, B: false });
    expect(await store.raw.count('variables')).toBe(1);
    await variables.set(server, alice, { B: 'y' });
    expect(await variables.readSetFlags(server, alice)).toEqual({ A: true, B: true });
    await variables.set(server, alice, { A: '' });
    expect(await variables.readSetFlags(server, alice)).toEqual({ A: false, B: true });
    await variables.removeAll(server, alice);
    expect(await variables.readSetFlags(server, alice)).toEqual({ A: false, B: false });
    expect(new Set(received)).toEqual(new Set(['variables ["default","alice","server"]']));
    expect(received).toHaveLength(4);
  });

  test('a name the server does not declare is refused, and nothing is stored', async () => {
    const { variables, store } = rig();
    for (const name of ['C', 'LIBRECHAT_USER_ID', 'librechat_user_id', 'MCP_API_KEY', '__proto__']) {
      const values = JSON.parse(`{"A":"x",${JSON.stringify(name)}:"y"}`) as Record<string, string>;
      await expect(variables.set(server, alice, values)).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
        errors: [{ path: name }],
      });
    }
    await expect(variables.set(server, alice, { A: 'x'.repeat(16_385) })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      errors: [{ path: 'A', code: 'too_long' }],
    });
    expect(await store.raw.count('variables')).toBe(0);
    const keyed = createUserSnapshot({ apiKey: { source: 'user', authorization_type: 'bearer' } });
    await variables.set(keyed, alice, { MCP_API_KEY: 'mine' });
    expect(await variables.readSetFlags(keyed, alice)).toEqual({ MCP_API_KEY: true });
  });

  test('a value is sealed to its user, server and name', async () => {
    const { variables, cache, store } = rig();
    await variables.set(server, alice, { A: 'pl4nted' });
    const [row] = await store.raw.page('variables', null, 10);
    expect(JSON.stringify(row)).not.toContain('pl4nted');
    for (const moved of [
      { userId: 'bob' },
      { serverId: 'other' },
      { tenant: 'other' },
      { name: 'B' },
      { valueSealed: 'pl4in' },
    ]) {
      const record = { ...row!, ...moved };
      await store.raw.remove('variables', [row!.id]);
      await store.raw.put('variables', [{ ...record, id: variableId(record) }]);
      const { tenant, userId, serverId } = record;
      await store.changes.publish({ topic: 'variables', id: '*' });
      await expect(cache.read({ tenant, userId, serverId })).rejects.toBeInstanceOf(SealError);
      await store.raw.remove('variables', [variableId(record)]);
    }
  });

  test('a cached value does not replace a value that fails to decrypt', async () => {
    const { variables, cache, store, clock } = rig();
    await variables.set(server, alice, { A: 'value' });
    const owner = { tenant: alice.tenant, userId: alice.userId, serverId: server.id };
    expect((await cache.read(owner)).values).toEqual({ A: 'value' });
    const [row] = await store.raw.page('variables', null, 10);
    await store.raw.put('variables', [{ ...row!, valueSealed: 'pl4in' }]);
    await clock.advance(60_000);
    await expect(cache.read(owner)).rejects.toBeInstanceOf(SealError);
  });
});
