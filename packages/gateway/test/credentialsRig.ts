import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { type BodyFields, type Credential, createCredentials } from '../src/credentials/credentials.ts';
import type { OboOptions } from '../src/credentials/obo/key.ts';
import { SignInRequired } from '../src/credentials/signInRequired.ts';
import { createUserVariables } from '../src/credentials/variables/userVariables.ts';
import { createVariableCache } from '../src/credentials/variables/variableCache.ts';
import { toVariableSealContext, variableId, type UserVariableStore } from '../src/ports/index.ts';
import type { UserPrincipal } from '../src/principal/principal.ts';
import type { UserServer } from '../src/definitions/definition.ts';
import { withoutRenewal } from './bearerRig.ts';
import { createUserSnapshot } from './servers.ts';

export const createPrincipal = (userId: string, overrides: Partial<UserPrincipal> = {}): UserPrincipal =>
  aPrincipal({ userId, email: `${userId}@example.com`, name: userId, ...overrides });
export const alice = createPrincipal('alice');
export const bob = createPrincipal('bob');
export const KEY = { KEY: { title: 'Key', description: '' } };
export const keyedServer = createUserSnapshot({ customUserVars: KEY, headers: { 'X-Key': '{{KEY}}' } });

/** Credentials over a store that counts, and an exchange that says what it was asked. */
export function createCredentialsRig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
  let listCount = 0;
  let openCount = 0;
  let isStoreDown = false;
  const countedStore: UserVariableStore = {
    ...store.variables,
    list: (...owner) => {
      listCount += 1;
      return isStoreDown ? Promise.reject(new Error('away')) : store.variables.list(...owner);
    },
  };
  const countedKeyring = {
    ...keyring,
    open: (...sealed: Parameters<typeof keyring.open>) => {
      openCount += 1;
      return keyring.open(...sealed);
    },
  };
  /** Until when the feed is sure to have heard everything: as if it had lost touch at once. */
  let checkedAt = 0;
  const changes = { ...store.changes, syncedUntil: () => checkedAt };
  const parts = { store: countedStore, keyring: countedKeyring, changes, clock };
  const cache = createVariableCache(parts);
  const bearerRequests: { server: string; user: string; wanted: OboOptions }[] = [];
  let exchange: () => Promise<string> = async () => 'exchanged';
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
        bearerRequests.push({ server: server.name, user: userId, wanted });
        return { token: () => exchange(), ...withoutRenewal };
      },
    },
  });
  const getCredential = async (
    server: UserServer,
    principal = alice,
    fields?: BodyFields,
  ): Promise<Credential> => {
    return credentials.obtain(server, principal, fields);
  };
  return {
    clock,
    store,
    keyring,
    cache,
    credentials,
    bearerRequests,
    setExchange: (nextExchange: () => Promise<string>) => (exchange = nextExchange),
    getCredential,
    variables: createUserVariables({ ...parts, store: store.variables }),
    readHeader: async (server: UserServer, principal = alice, fields?: BodyFields) => {
      const { target } = await getCredential(server, principal, fields);
      return target.type === 'stdio' ? undefined : target.headers['x-key'];
    },
    /** Into the store, past all that would refuse it. */
    storeValue: async (name: string, value: string) => {
      const key = { tenant: 'default', userId: 'alice', serverId: 'server', name };
      const valueSealed = keyring.seal(value, toVariableSealContext(key));
      await store.variables.put([{ id: variableId(key), ...key, valueSealed, updatedAt: 1 }]);
    },
    counts: () => ({ listCount, openCount }),
    hearAll: () => (checkedAt = clock.now()),
    setStoreDown: (isDown: boolean) => (isStoreDown = isDown),
  };
}
