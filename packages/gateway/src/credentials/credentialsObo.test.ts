import { describe, expect, test } from '@jest/globals';
import { alice, bob, createCredentialsRig } from '../../test/credentialsRig.ts';
import { createUserSnapshot } from '../../test/servers.ts';

describe('tokens that are exchanged for a user', () => {
  test('a server that is sent exchanged tokens gets a way to them, never a token', async () => {
    const { getCredential, bearerRequests: requests } = createCredentialsRig();
    const server = createUserSnapshot({
      obo: { scopes: 'b a' },
      requiresOAuth: false,
      headers: { 'X-Key': 'k' },
    });
    const { target, binding } = await getCredential(server);
    expect(target).toMatchObject({ headers: { 'x-key': 'k' }, bearer: { token: expect.any(Function) } });
    expect(JSON.stringify(target)).not.toContain('exchanged');
    expect(requests).toMatchObject([{ user: 'alice', wanted: { scopes: 'b a' } }]);
    // Each call has its own, and all of one user's share a session.
    const again = await getCredential(server);
    expect(again.target).not.toBe(target);
    expect(again.binding).toBe(binding);
    expect((await getCredential(server, bob)).binding).not.toBe(binding);
    expect(requests).toHaveLength(3);
    const plain = await getCredential(createUserSnapshot({ startup: false }));
    expect(plain.target).not.toHaveProperty('bearer');
    expect(requests).toHaveLength(3);
  });

  test('the token behind the Graph placeholder is exchanged for each call; failing that, nothing is sent', async () => {
    const {
      readHeader,
      getCredential,
      bearerRequests: requests,
      setExchange,
      credentials,
    } = createCredentialsRig();
    const server = createUserSnapshot({ headers: { 'X-Key': 'for {{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' } });
    expect(await readHeader(server)).toBe('for exchanged');
    const { binding } = await getCredential(server);
    setExchange(async () => 'renewed');
    expect(await readHeader(server)).toBe('for renewed');
    // A token that is merely renewed keeps the connection.
    expect((await getCredential(server)).binding).toBe(binding);
    expect(requests[0]).toMatchObject({ user: 'alice', wanted: { scopes: 'graph/.default' } });
    setExchange(() => Promise.reject(new Error('no token')));
    await expect(credentials.obtain(server, alice)).rejects.toThrow('no token');
  });
});
