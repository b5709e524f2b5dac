import { createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createOpenIdRig, type OpenIdRig } from '../../../test/openidRig.ts';
import { createProviderMetadata } from './provider.ts';

const open: OpenIdRig[] = [];
const DISCOVERY = '/.well-known/openid-configuration';
const MINUTE_MS = 60_000;

async function createRig() {
  const rig = await createOpenIdRig();
  open.push(rig);
  return rig;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

describe('the provider’s metadata', () => {
  test('is asked for once an hour, by many at once', async () => {
    const { metadata, issuer, clock } = await createRig();
    const all = await Promise.all(Array.from({ length: 5 }, () => metadata.current()));
    expect(all[0]).toMatchObject({ issuer: issuer.url, jwksUri: `${issuer.url}/jwks` });
    await clock.advance(59 * MINUTE_MS);
    await metadata.current();
    expect(issuer.requestCounts[DISCOVERY]).toBe(1);
    await clock.advance(MINUTE_MS);
    await metadata.current();
    expect(issuer.requestCounts[DISCOVERY]).toBe(2);
  });

  test('a failure is not kept, and tells nothing of the provider', async () => {
    const { metadata, issuer, logged } = await createRig();
    for (const status of [500, 404, 302]) {
      issuer.failingPaths.set(DISCOVERY, status);
      await expect(metadata.current()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    }
    issuer.failingPaths.clear();
    expect(await metadata.current()).toMatchObject({ issuer: issuer.url });
    expect(logged).toEqual([500, 404, 302].map((status) => `openid_discovery_failed status ${status}`));
  });

  test('a document of another issuer is none', async () => {
    const { metadata, issuer, logged } = await createRig();
    for (const other of [`${issuer.url}/`, 'https://evil.example', undefined]) {
      issuer.metadata = { issuer: other };
      await expect(metadata.current()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    }
    expect(logged[0]).toContain('names another issuer');
    issuer.metadata = { jwks_uri: undefined };
    await expect(metadata.current()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
  });

  test('plain http is for loopback alone', async () => {
    const { metadata, issuer, fetch } = await createRig();
    const make = (url: string) =>
      createProviderMetadata({
        settings: { issuer: url },
        fetch,
        clock: createFakeClock(),
        log: () => undefined,
      });
    for (const url of ['http://idp.example', 'ftp://127.0.0.1', 'idp', 'http://127.0.0.1.evil.example']) {
      expect(() => make(url)).toThrow('loopback');
    }
    for (const url of ['https://idp.example', 'http://localhost:1', 'http://[::1]:1']) make(url);
    for (const name of ['token_endpoint', 'jwks_uri', 'authorization_endpoint', 'userinfo_endpoint']) {
      issuer.metadata = { [name]: 'http://idp.example/x' };
      await expect(metadata.current()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    }
    issuer.metadata = { token_endpoint: 'https://login.example/token' };
    await metadata.current();
    expect(metadata.origins()).toEqual([issuer.url, 'https://login.example']);
  });

  test('an issuer over https names nothing without it', async () => {
    const issuer = 'https://idp.example';
    const answer = { issuer, jwks_uri: `${issuer}/jwks`, token_endpoint: 'http://127.0.0.1:9/token' };
    const source = createProviderMetadata({
      settings: { issuer },
      fetch: async () => Response.json(answer),
      clock: createFakeClock(),
      log: () => undefined,
    });
    await expect(source.current()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
  });

  test('an answer that does not end, or is too large, is a failure', async () => {
    const clock = createFakeClock();
    const make = (fetch: Parameters<typeof createProviderMetadata>[0]['fetch']) =>
      createProviderMetadata({
        settings: { issuer: 'https://idp.example' },
        ...{ fetch, clock, log: () => undefined },
      });
    const silent = make(
      (_url, init) =>
        new Promise((_resolve, reject) => {
          init!.signal!.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    );
    const waiting = silent.current();
    const refused = expect(waiting).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    await clock.advance(10_000);
    await refused;
    const document = { issuer: 'https://idp.example', jwks_uri: 'https://idp.example/jwks' };
    const filled = (length: number) =>
      make(async () => Response.json({ ...document, filler: 'x'.repeat(length) }));
    expect(await filled(1_000).current()).toMatchObject({ jwksUri: document.jwks_uri });
    const large = filled(600_000);
    await expect(large.current()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
  });
});

describe('the issuer’s keys', () => {
  test('a new key works at once, without a restart', async () => {
    const { verifier, token, issuer, clock, keys } = await createRig();
    await verifier.verify(await token());
    const before = keys.generation();
    await issuer.publish('k1', 'k2');
    await clock.advance(5_000);
    const requestCount = issuer.requestCounts['/jwks']!;
    const tokens = await Promise.all(['a', 'b', 'c'].map((sub) => token({ sub }, { kid: 'k2' })));
    const all = await Promise.all(tokens.map((each) => verifier.verify(each)));
    expect(all.map(({ subject }) => subject)).toEqual(['a', 'b', 'c']);
    expect(issuer.requestCounts['/jwks']).toBe(requestCount + 1);
    expect(keys.generation()).toBe(before + 1);
  });

  test('a key that was taken back ends what it proved', async () => {
    const { verifier, token, issuer, clock } = await createRig();
    const lasting = { exp: Math.floor(clock.now() / 1_000) + 86_400 };
    const held = await token(lasting);
    await verifier.verify(held);
    await issuer.publish('k2');
    await clock.advance(5 * MINUTE_MS);
    // Asked again beside this call, which is still answered from what is known.
    await verifier.verify(held);
    await eventually('the keys are fetched', () => issuer.requestCounts['/jwks'] === 2);
    await eventually('the old key ends', () =>
      verifier.verify(held).then(
        () => false,
        () => true,
      ),
    );
    expect(await verifier.verify(await token(lasting, { kid: 'k2' }))).toMatchObject({ subject: 'ada' });
  });

  test('the order of the keys says nothing', async () => {
    const { keys, issuer, clock } = await createRig();
    await issuer.publish('k1', 'k2');
    const first = await keys.current();
    await issuer.publish('k2', 'k1');
    await clock.advance(10 * MINUTE_MS);
    expect(await keys.current()).toBe(first);
    expect(issuer.requestCounts['/jwks']).toBe(2);
    expect(keys.generation()).toBe(1);
  });

  test('keys outlast an outage of the provider, for ten minutes', async () => {
    const { verifier, token, issuer, clock } = await createRig();
    const lasting = { exp: Math.floor(clock.now() / 1_000) + 86_400 };
    const held = await token(lasting);
    await verifier.verify(held);
    issuer.failingPaths.set('/jwks', 503);
    await clock.advance(10 * MINUTE_MS - 1);
    expect(await verifier.verify(held)).toMatchObject({ subject: 'ada' });
    expect(await verifier.verify(await token({ ...lasting, sub: 'bob' }))).toMatchObject({ subject: 'bob' });
    await clock.advance(1);
    await expect(verifier.verify(held)).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    await expect(verifier.verify(await token(lasting))).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    issuer.failingPaths.clear();
    await clock.advance(1_000);
    expect(await verifier.verify(held)).toMatchObject({ subject: 'ada' });
  });

  test('while nobody can tell about a key, nobody is told it is wrong', async () => {
    const { verifier, token, issuer, clock } = await createRig();
    await verifier.verify(await token());
    issuer.failingPaths.set('/jwks', 503);
    await clock.advance(5_000);
    const unknownToken = await token({}, { kid: 'k2' });
    for (let i = 0; i < 3; i += 1) {
      await expect(verifier.verify(unknownToken)).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    }
    expect(issuer.requestCounts['/jwks']).toBe(2);
    expect(await verifier.verify(await token())).toMatchObject({ subject: 'ada' });
  });

  test('a provider that is not there yet is asked once a second', async () => {
    const { keys, issuer, clock } = await createRig();
    issuer.failingPaths.set(DISCOVERY, 503);
    for (let i = 0; i < 5; i += 1) {
      await expect(keys.current()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    }
    expect(issuer.requestCounts[DISCOVERY]).toBe(1);
    issuer.failingPaths.clear();
    await clock.advance(1_000);
    await keys.current();
  });

  test('what was verified is not verified again', async () => {
    const { verifier, token } = await createRig();
    const held = await token();
    const first = await verifier.verify(held);
    expect(await verifier.verify(held)).toBe(first);
    // Another signature by the same key: as good, and not the same token.
    expect(await verifier.verify(await token())).not.toBe(first);
  });

  test('what was verified is verified again when its time has come', async () => {
    const { verifier, token, clock } = await createRig();
    const held = await token({ exp: Math.floor(clock.now() / 1_000) + 10 });
    const first = await verifier.verify(held);
    await clock.advance(10_000);
    expect(await verifier.verify(held)).not.toBe(first);
    await clock.advance(30_000);
    await expect(verifier.verify(held)).rejects.toMatchObject({ code: 'AUTH_TOKEN_INVALID' });
  });
});
