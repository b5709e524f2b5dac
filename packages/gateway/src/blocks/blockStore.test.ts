import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { GatewayError } from '../errors/gatewayError.ts';
import { type BlockRecord, toBlockSealContext } from '../ports/index.ts';
import { type SavedBlock, createSavedBlocks } from './store.ts';

const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);

function rig() {
  const store = openMemoryStore({ clock: createFakeClock(), random: systemRandom });
  const logged: Record<string, unknown>[] = [];
  const log = (event: string, fields: object) => void logged.push({ event, ...fields });
  return { store, logged, blocks: createSavedBlocks({ store: store.blocks, keyring, log }) };
}

function aBlock(overrides: Partial<SavedBlock> = {}): SavedBlock {
  return {
    ...{ id: 'b1', tenant: 'default', owner: 'ada', serverId: 's1', tool: 'send', version: 1 },
    ...{ createdAt: 1, updatedAt: 1, updatedBy: 'ada' },
    title: 'About pl4nted',
    description: 'pl4nted too',
    serverName: 'mail',
    inputs: { to: { mode: 'fixed', value: { deep: ['pl4nted', null] } }, text: { mode: 'ask' } },
    inputSchema: { type: 'object', properties: { to: {}, text: { type: 'string' } } },
    outputSchema: { type: 'object' },
    ...overrides,
  };
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no refusal',
    (error: unknown) => (error instanceof GatewayError ? error.code : error),
  );

describe('blocks in the store', () => {
  test('are read back whole, and hold no word of theirs in clear', async () => {
    const { store, blocks } = rig();
    const { description: _text, outputSchema: _schema, ...small } = aBlock({ id: 'b2' });
    for (const block of [aBlock(), small]) await blocks.insert(block);
    expect(await blocks.find('default', 'b1')).toEqual(aBlock());
    expect(await blocks.findMany('default', ['b2', 'b1'])).toEqual([aBlock(), small]);
    const rows = await store.raw.page('blocks', null, 9);
    expect(JSON.stringify(rows)).not.toMatch(/pl4nted|mail|About/);
    await blocks.replace({ ...small, version: 2, title: 'Other' }, 1);
    expect(await blocks.find('default', 'b2')).toMatchObject({ title: 'Other', version: 2 });
    expect(await refusal(blocks.replace({ ...small, version: 2 }, 1))).toBe('VERSION_CONFLICT');
    expect(await refusal(blocks.replace({ ...small, id: 'none' }, 1))).toBe('BLOCK_NOT_FOUND');
  });

  test('that were moved to another owner, server, tool or id past us are not there; the log says so', async () => {
    for (const moved of [
      { owner: 'bob' },
      { tenant: 'other' },
      { serverId: 's2' },
      { tool: 'delete' },
      { id: 'b9' },
      { sealed: 'v1.pl4in' },
      { sealed: keyring.seal('{"title":"x"}', toBlockSealContext(aBlock())) },
    ] satisfies Partial<BlockRecord>[]) {
      const { store, blocks, logged } = rig();
      await blocks.insert(aBlock());
      const [row] = await store.raw.page('blocks', null, 1);
      const changed = { ...row!, ...moved };
      await store.raw.remove('blocks', [row!.id]);
      await store.raw.put('blocks', [changed]);
      expect(await blocks.find(changed.tenant, changed.id)).toBeNull();
      expect(await blocks.findMany(changed.tenant, [changed.id])).toEqual([]);
      expect(logged).toHaveLength(2);
      expect(logged[0]).toEqual({
        event: 'block_unreadable',
        ...{ block: changed.id, owner: changed.owner },
        reason: expect.stringMatching(/^(tampered|malformed|unreadable)$/),
      });
      expect(await blocks.remove(changed.tenant, changed.id)).toBe(true);
    }
  });

  test('have an end: 200 of one owner, 512 KiB of one', async () => {
    const { store, blocks } = rig();
    for (let i = 0; i < 200; i += 1) await blocks.insert(aBlock({ id: `b${i}` }));
    expect(await refusal(blocks.insert(aBlock({ id: 'more' })))).toBe('BLOCK_LIMIT');
    await blocks.insert(aBlock({ id: 'theirs', owner: 'bob' }));
    const large = { type: 'object', description: 'x'.repeat(400 * 1024) };
    const tooLarge = aBlock({ id: 'large', owner: 'eve', inputSchema: large });
    expect(await refusal(blocks.insert(tooLarge))).toBe('REQUEST_TOO_LARGE');
    expect(await store.raw.count('blocks')).toBe(201);
  });
});
