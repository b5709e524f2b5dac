import type { ProviderSettings } from '@behalf/settings';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { testKey } from '../../../../../egress/test/certificate.ts';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';

let rig: TokenEndpointRig;
beforeEach(async () => {
  rig = await createTokenEndpointRig();
});
afterEach(() => rig.close());

const login = (overrides: object = {}) => ({
  ...{ issuer: rig.endpoint.origin, clientId: 'login-app', clientSecret: 'login-secret' },
  ...overrides,
});
const posted = () => rig.endpoint.requests.at(-1)!;
/** Says of itself what the login's issuer says; gives tokens elsewhere. */
function publish(more: object = {}): void {
  const give = rig.endpoint.reply;
  const { origin } = rig.endpoint;
  rig.endpoint.reply = (request) =>
    request.path.includes('/.well-known/')
      ? { body: { issuer: origin, token_endpoint: `${origin}/found`, ...more } }
      : give(request);
}

describe('which provider', () => {
  test('a stock configuration exchanges with its login', async () => {
    publish({ token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] });
    const providers = rig.providers([], login());
    const provider = providers.find({})!;
    expect(provider.identity).toMatchObject({
      ...{ provider: 'login', grant: 'jwt-bearer', endpoint: rig.endpoint.origin, clientId: 'login-app' },
    });
    await runExchange(provider);
    expect(posted().path).toBe('/found');
    expect(posted().form).toMatchObject({
      ...{ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', requested_token_use: 'on_behalf_of' },
      ...{ assertion: 'subject-token-of-ada', scope: 'api://files/read' },
      ...{ client_id: 'login-app', client_secret: 'login-secret' },
    });
    expect(rig.providers([], null).find({})).toBeUndefined();
  });

  test('the secret goes into the header where the metadata does not offer the body', async () => {
    publish();
    await runExchange(rig.providers([], login()).find({})!);
    expect(posted().headers.authorization).toMatch(/^Basic /);
    expect(posted().body).not.toContain('login-secret');
    publish({ token_endpoint_auth_methods_supported: ['none'] });
    await runExchange(rig.providers([], login({ clientSecret: null })).find({})!);
    expect(posted().form['client_id']).toBe('login-app');
  });

  test('a Microsoft issuer is Entra, and one that looks like it is not', () => {
    const grant = (issuer: string) => rig.providers([], login({ issuer })).find({})!.identity.grant;
    expect(grant('https://login.microsoftonline.com/t/v2.0')).toBe('entra');
    for (const issuer of [
      'https://login.microsoftonline.com.evil.example/t/v2.0',
      'https://evil.example/login.microsoftonline.com/v2.0',
      'https://login.microsoftonline.com:8443/t/v2.0',
      'https://evil.login.microsoftonline.com/t/v2.0',
      'http://login.microsoftonline.com/t/v2.0',
      'https://login.microsoftonline.com@evil.example/t',
    ]) {
      expect(grant(issuer)).toBe('jwt-bearer');
    }
  });

  test('an entry named login takes its place and inherits what it leaves out', async () => {
    publish();
    const entry: ProviderSettings = {
      ...{ name: 'login', type: 'token-exchange', parameters: { x: 'y' } },
    };
    const providers = rig.providers([entry], login());
    await runExchange(providers.find({})!).catch(() => undefined);
    expect(posted()).toMatchObject({
      path: '/found',
      form: { subject_token: 'subject-token-of-ada', x: 'y' },
    });
    expect(Buffer.from(posted().headers.authorization!.slice(6), 'base64').toString()).toBe(
      'login-app:login-secret',
    );
    expect(posted().form['requested_token_use']).toBeUndefined();
    expect(providers.find({ provider: 'login' })).toBe(providers.find({}));
  });

  test('by name, and the same one for the same choice', () => {
    const { origin } = rig.endpoint;
    const declared: ProviderSettings[] = [
      { name: 'a', type: 'jwt-bearer', tokenEndpoint: `${origin}/a`, clientId: 'a' },
      { name: 'b', type: 'entra', authority: `${origin}/b/`, clientId: 'b', clientSecret: 'secret' },
    ];
    const providers = rig.providers(declared, login());
    const identity = (choice: object) => providers.find(choice)!.identity;
    expect(identity({ provider: 'a' })).toMatchObject({ grant: 'jwt-bearer', endpoint: `${origin}/a` });
    expect(identity({ provider: 'a', grant: 'token-exchange' })).toMatchObject({ grant: 'token-exchange' });
    expect(identity({ provider: 'b' })).toMatchObject({
      grant: 'entra',
      endpoint: `${origin}/b/oauth2/v2.0/token`,
    });
    expect(identity({ provider: 'b', grant: 'jwt-bearer' })).toMatchObject({ grant: 'entra' });
    expect(identity({ grant: 'token-exchange' })).toMatchObject({
      provider: 'login',
      grant: 'token-exchange',
    });
    expect(providers.find({ provider: 'a' })).toBe(providers.find({ provider: 'a', grant: 'jwt-bearer' }));
    expect(providers.find({ provider: 'c' })).toBeUndefined();
    expect(providers.find({ provider: 'constructor' })).toBeUndefined();
  });

  test('the login’s secret is sent for the login’s client alone', async () => {
    const tokenEndpoint = `${rig.endpoint.origin}/p`;
    const ask = async (overrides: Partial<ProviderSettings>) => {
      const entry: ProviderSettings = {
        name: 'p',
        type: 'jwt-bearer',
        tokenEndpoint,
        clientAuth: undefined,
        ...overrides,
      };
      await runExchange(rig.providers([entry], login()).find({ provider: 'p' })!);
      const { authorization = '' } = posted().headers;
      return posted().body + Buffer.from(authorization.slice(6), 'base64').toString();
    };
    expect(await ask({})).toContain('login-app:login-secret');
    expect(await ask({ clientId: 'another' })).not.toContain('login-secret');
    rig.files.set('key.pem', testKey).set('federated.jwt', 'a.b.c');
    expect(await ask({ privateKeyFile: 'key.pem' })).not.toContain('login-secret');
    expect(await ask({ assertionFile: 'federated.jwt' })).not.toContain('login-secret');
    expect(await ask({ clientId: 'another', clientSecret: 'own' })).toContain('another:own');
  });

  test('and to where people sign in alone', async () => {
    const entry: ProviderSettings = {
      ...{ name: 'p', type: 'jwt-bearer', tokenEndpoint: `${rig.endpoint.origin}/p`, clientAuth: 'post' },
    };
    const otherLogin = login({ issuer: 'https://sso.example' });
    for (const over of [{ clientId: undefined }, { clientId: 'login-app' }]) {
      const providers = rig.providers([{ ...entry, ...over }], otherLogin);
      const provider = providers.find({ provider: 'p' })!;
      await runExchange(provider).catch(() => undefined);
      expect(provider.identity.clientId).toBe(over.clientId ?? '');
    }
    const sent = rig.endpoint.requests.map(({ body, headers }) => `${body} ${JSON.stringify(headers)}`);
    expect(sent.join()).not.toContain('login-secret');
    expect(sent.join()).not.toMatch(/[Bb]asic /);
    // Entra issues under one name and answers under another.
    const authority = 'https://login.microsoftonline.com/t';
    const entra: ProviderSettings = { name: 'login', type: 'entra', authority };
    const found = rig.providers([entra], login({ issuer: 'https://sts.windows.net/t/' })).find({})!;
    expect(found.identity.clientId).toBe('login-app');
  });
});

describe('identity', () => {
  test('whatever changes what is asked for changes the key', () => {
    const base = { type: 'jwt-bearer', tokenEndpoint: 'https://idp.example/token', clientId: 'c' } as const;
    const version = (overrides: Partial<ProviderSettings>) =>
      rig.provider({ ...base, ...overrides }).identity.credentialVersion;
    const versions = [
      version({}),
      version({ clientSecret: 'one' }),
      version({ clientSecret: 'two' }),
      version({ privateKeyFile: 'a.pem' }),
      version({ privateKeyFile: 'b.pem' }),
      version({ assertionFile: 'a.pem' }),
      version({ parameters: { a: 'b' } }),
      version({ requestedTokenType: 'x' }),
      version({ subjectTokenType: 'x' }),
    ];
    expect(new Set(versions).size).toBe(versions.length);
    expect(version({ clientSecret: 'one' })).toBe(versions[1]);
    expect(version({ parameters: { a: 'b', c: 'd' } })).toBe(version({ parameters: { c: 'd', a: 'b' } }));
    expect(versions.join()).not.toMatch(/one|two|pem/);
  });

  test('a key is known by its content from the start on', async () => {
    const entry: ProviderSettings = {
      ...{ name: 'p', type: 'jwt-bearer', tokenEndpoint: `${rig.endpoint.origin}/p`, clientId: 'c' },
      privateKeyFile: 'key.pem',
    };
    rig.files.set('key.pem', testKey);
    const providers = rig.providers([entry]);
    const provider = providers.find({ provider: 'p' })!;
    const before = provider.identity;
    await providers.prepare();
    const prepared = provider.identity;
    expect(prepared.credentialVersion).not.toBe(before.credentialVersion);
    await runExchange(provider);
    // The same object: it is read for each look-up.
    expect(provider.identity).toBe(prepared);
    const again = rig.providers([entry]);
    rig.files.clear();
    await again.prepare();
    expect(rig.logged).toContain('obo_credential_unreadable p');
    expect(await expectExchangeFault(runExchange(again.find({ provider: 'p' })!))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
    });
  });
});
