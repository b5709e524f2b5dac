import { aCredential } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import { toVariableSealContext, variableId } from '../ports/index.ts';
import { createStoredServers } from './stored.ts';
import { createServer } from './create.ts';
import type { ConfigureParts } from './editing.ts';
import { removeServer } from './remove.ts';
import { changeServer } from './update.ts';

const config = { ...remoteDefinition, url: 'https://user.example/mcp', title: 'Mine' };

/** A server of Ada's that Eve may remove and Vic may use, with a value and a credential of Eve's. */
async function createRig() {
  const rig = await createConfigureRig();
  const { parts, store, keyring } = rig;
  const ada = rig.createPrincipal('ada', 'MAKER');
  const id = (await createServer(parts, ada, { config })).dbId!;
  await rig.grantAccess(id, 'eve', 5);
  await rig.grantAccess(id, 'vic', 1);
  const key = { tenant: 'default', userId: 'eve', serverId: id, name: 'A' };
  const valueSealed = keyring.seal('v', toVariableSealContext(key));
  await store.variables.put([{ id: variableId(key), ...key, valueSealed, updatedAt: 1 }]);
  for (const serverId of [id, 'another']) {
    await store.credentials.insert(aCredential({ principal: 'user:eve', serverId }));
  }
  rig.events.length = 0;
  const readStored = () =>
    Promise.all(
      (['servers', 'variables', 'acl', 'credentials'] as const).map((name) => store.raw.count(name)),
    );
  return { ...rig, ada, id, readStored, eve: rig.createPrincipal('eve', 'MAKER') };
}

type Scene = Awaited<ReturnType<typeof createRig>>;

const notFound = { code: 'MCP_SERVER_NOT_FOUND' };
const nothingLeft = [0, 0, 0, 1];

describe('removing a server', () => {
  test('values, rights and credentials go with it', async () => {
    const { parts, id, events, ada, readStored } = await createRig();
    await removeServer(parts, ada, 'mine', { ifMatch: '"1"' });
    expect(parts.registry.find('default', 'mine')).toBeUndefined();
    expect(await readStored()).toEqual(nothingLeft);
    expect(events).toMatchObject([{ action: 'server.delete', outcome: 'ok', server: 'mine', serverId: id }]);
    await expect(removeServer(parts, ada, 'mine')).rejects.toMatchObject(notFound);
  });

  test('another version than the one named stays as it is', async () => {
    const { parts, ada, readStored } = await createRig();
    const before = await readStored();
    for (const ifMatch of ['"2"', 'W/"2", "11"', '1', '"01"', '']) {
      await expect(removeServer(parts, ada, 'mine', { ifMatch })).rejects.toMatchObject({
        code: 'MCP_VERSION_CONFLICT',
      });
    }
    expect([await readStored(), parts.registry.find('default', 'mine')]).toMatchObject([
      before,
      { name: 'mine' },
    ]);
    await removeServer(parts, ada, 'mine', { ifMatch: '"7", W/"1"' });
    expect(await readStored()).toEqual(nothingLeft);
  });

  /** Parts with which somebody changes the server between the look at it and its removal. */
  function overtaken({ parts, ada }: Scene): ConfigureParts {
    let isFirst = true;
    const withdraw: ConfigureParts['stored']['withdraw'] = async (server, seen) => {
      if (isFirst) {
        isFirst = false;
        await changeServer(parts, ada, 'mine', { config: { title: 'Newer' }, mode: 'merge' });
      }
      return parts.stored.withdraw(server, seen);
    };
    return { ...parts, stored: { ...parts.stored, withdraw } };
  }

  test('a change that was faster is not removed unseen', async () => {
    const rig = await createRig();
    const before = await rig.readStored();
    const removing = removeServer(overtaken(rig), rig.eve, 'mine', { ifMatch: '"1"' });
    await expect(removing).rejects.toMatchObject({ code: 'MCP_VERSION_CONFLICT' });
    expect(await rig.readStored()).toEqual(before);
    expect(rig.parts.registry.find('default', 'mine')?.settings.title).toBe('Newer');
  });

  test('who names none removes what is there by then', async () => {
    const rig = await createRig();
    await removeServer(overtaken(rig), rig.eve, 'mine');
    expect(await rig.readStored()).toEqual(nothingLeft);
  });

  test('what is being removed is not changed any more', async () => {
    const { parts, ada, id, readStored } = await createRig();
    const inspect = async () => {
      expect(await parts.stored.withdraw({ tenant: 'default', id, changedBy: 'eve' }, 1)).toBe('withdrawn');
      return { tools: 1 };
    };
    const next = { config: { url: 'https://user.example/2' }, mode: 'merge' } as const;
    await expect(changeServer({ ...parts, inspect }, ada, 'mine', next)).rejects.toMatchObject(notFound);
    await expect(changeServer(parts, ada, 'mine', next)).rejects.toMatchObject(notFound);
    await removeServer(parts, ada, 'mine');
    expect(await readStored()).toEqual(nothingLeft);
  });

  const down = () => Promise.reject(new Error('The store is away'));

  /** Parts of which one step of a removal fails. */
  const failing: Record<string, (rig: Scene) => ConfigureParts> = {
    grants: ({ parts }) => ({ ...parts, grants: { removeAll: down } }),
    rights: ({ parts }) => ({ ...parts, acl: { ...parts.acl, removeServer: down } }),
    values: (rig) => withStore(rig, { variables: { ...rig.store.variables, removeByServer: down } }),
    'the server itself': (rig) => withStore(rig, { servers: { ...rig.store.servers, remove: down } }),
    'telling others': ({ parts }) => ({ ...parts, refreshRegistry: down }),
  };

  function withStore({ parts, store, keyring, clock }: Scene, overrides: object): ConfigureParts {
    const { servers, variables, changes } = store;
    const common = { keyring, changes, clock, random: parts.random, log: () => undefined };
    return { ...parts, stored: createStoredServers({ servers, variables, ...common, ...overrides }) };
  }

  for (const [step, partsOf] of Object.entries(failing)) {
    test(`also when this failed: ${step}`, async () => {
      const rig = await createRig();
      const { parts, events, ada, readStored } = rig;
      await expect(removeServer(partsOf(rig), ada, 'mine', { ifMatch: '"1"' })).rejects.toThrow(
        'The store is away',
      );
      expect(events).toMatchObject([{ action: 'server.delete', outcome: 'failed', server: 'mine' }]);
      await parts.refreshRegistry();
      expect(parts.registry.find('default', 'mine')).toBeUndefined();
      // The same request again, by the same person: its condition was met when it began.
      await removeServer(parts, ada, 'mine', { ifMatch: '"1"' });
      expect(await readStored()).toEqual(nothingLeft);
    });
  }

  test('by its author, an administrator or who began it', async () => {
    const rig = await createRig();
    const { parts, createPrincipal, eve, readStored } = rig;
    await expect(removeServer(failing['rights']!(rig), eve, 'mine')).rejects.toThrow();
    await parts.refreshRegistry();
    for (const unrelatedUser of [
      createPrincipal('sid', 'MAKER'),
      createPrincipal('ada', 'ADMIN', { tenant: 'acme' }),
    ]) {
      await expect(removeServer(parts, unrelatedUser, 'mine')).rejects.toMatchObject(notFound);
    }
    await expect(removeServer(parts, createPrincipal('vic', 'MAKER'), 'mine')).rejects.toMatchObject({
      code: 'MCP_ACL_FORBIDDEN',
    });
    await expect(removeServer(failing['the server itself']!(rig), eve, 'mine')).rejects.toThrow();
    await expect(removeServer(parts, eve, 'mine')).rejects.toMatchObject(notFound);
    await removeServer(parts, createPrincipal('root', 'ADMIN'), 'mine');
    expect(await readStored()).toEqual(nothingLeft);
  });
});
