import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/stores/memory';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import type { Credential } from '../src/credentials/credential.ts';
import { createCredentials, type BodyFields } from '../src/credentials/credentials.ts';
import type { OboOptions } from '../src/credentials/obo/exchangeKeyCache.ts';
import { SignInRequired } from '../src/credentials/signInRequired.ts';
import { createUserVariables } from '../src/credentials/userVariables.ts';
import { createVariableCache } from '../src/credentials/variableCache.ts';
import { variableContext, variableId, type UserVariableStore } from '../src/ports/index.ts';
import type { UserPrincipal } from '../src/principal/principal.ts';
import type { UserServer } from '../src/registry/server.ts';
import { neverRenewed } from './bearerRig.ts';
import { userServer } from './servers.ts';

export const someone = (userId: string, over: Partial<UserPrincipal> = {}): UserPrincipal =>
  aPrincipal({ userId, email: `${userId}@example.com`, name: userId, ...over });
export const alice = someone('alice');
export const bob = someone('bob');
export const KEY = { KEY: { title: 'Key', description: '' } };
export const keyed = userServer({ customUserVars: KEY, headers: { 'X-Key': '{{KEY}}' } });

/** Credentials over a store that counts, and an exchange that says what it was asked. */
export function credentialsRig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
  let lists = 0;
  let opened = 0;
  let away = false;
  const counted: UserVariableStore = {
    ...store.variables,
    list: (...owner) => {
      lists += 1;
      return away ? Promise.reject(new Error('away')) : store.variables.list(...owner);
    },
  };
  const counting = {
    ...keyring,
    open: (...sealed: Parameters<typeof keyring.open>) => {
      opened += 1;
      return keyring.open(...sealed);
    },
  };
  /** Until when the feed is sure to have heard everything: as if it had lost touch at once. */
  let checkedAt = 0;
  const changes = { ...store.changes, syncedUntil: () => checkedAt };
  const parts = { store: counted, keyring: counting, changes, clock };
  const cache = createVariableCache(parts);
  const asked: { server: string; user: string; wanted: OboOptions }[] = [];
  let exchanged: () => Promise<string> = async () => 'exchanged';
  const credentials = createCredentials({
    variables: cache,
    inheritedEnv: { PATH: '/bin', SECRET: 'x' },
    graphScopes: 'graph/.default',
    oauth: {
      obtain(server) {
        if (server.auth === 'oauth') throw new SignInRequired('absent');
        return null;
      },
    },
    obo: {
      bearerFor: (server, { userId }, wanted) => {
        asked.push({ server: server.name, user: userId, wanted });
        return { token: () => exchanged(), ...neverRenewed };
      },
    },
  });
  const get = async (server: UserServer, principal = alice, fields?: BodyFields): Promise<Credential> => {
    return credentials.obtain(server, principal, fields);
  };
  return {
    clock,
    store,
    keyring,
    cache,
    credentials,
    asked,
    exchangeWith: (next: () => Promise<string>) => (exchanged = next),
    get,
    variables: createUserVariables({ ...parts, store: store.variables }),
    header: async (server: UserServer, principal = alice, fields?: BodyFields) => {
      const { target } = await get(server, principal, fields);
      return target.type === 'stdio' ? undefined : target.headers['x-key'];
    },
    /** Into the store, past all that would refuse it. */
    plant: async (name: string, value: string) => {
      const key = { tenant: 'default', userId: 'alice', serverId: 'server', name };
      const valueSealed = keyring.seal(value, variableContext(key));
      await store.variables.put([{ id: variableId(key), ...key, valueSealed, updatedAt: 1 }]);
    },
    counts: () => ({ lists, opened }),
    hearAll: () => (checkedAt = clock.now()),
    goAway: (gone: boolean) => (away = gone),
  };
}
