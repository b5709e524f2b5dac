import { eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, createSignInServerRig } from '../../../test/signInRig.ts';
import { createRetiringServers, createServerGrants } from './serverGrants.ts';

afterEach(closeSignInRigs);

describe('what users have at a server that goes', () => {
  test('is revoked as the client that it was given to, which goes last', async () => {
    const rig = await createSignInServerRig();
    await rig.signIn('files');
    const held = await rig.vault.token(rig.keyOf('files'));
    if (held.kind !== 'token') throw new Error('not connected');
    const { credentials, oauthFlows: flows, oauthClients } = rig.store;
    const done: string[] = [];
    const find = oauthClients.find.bind(oauthClients);
    // A store that takes its time.
    oauthClients.find = async (key) => {
      await new Promise((resolve) => setImmediate(resolve));
      done.push('client read');
      return find(key);
    };
    const clients: typeof oauthClients = {
      ...oauthClients,
      removeByServer(...of) {
        done.push('clients removed');
        return oauthClients.removeByServer(...of);
      },
    };
    const retiring = createRetiringServers();
    const grants = createServerGrants({ vault: rig.vault, credentials, flows, clients, retiring });
    await grants.removeAll('default', rig.allowedServer('files'));
    expect(done.at(-1)).toBe('clients removed');
    expect(done).toContain('client read');
    expect(await rig.vault.find(rig.keyOf('files'))).toBeNull();
    await eventually('it is revoked', () => rig.as.inspect(held.token.accessToken) === undefined);
    expect(retiring.get('default', 'files')).toBeUndefined();
  });
});
