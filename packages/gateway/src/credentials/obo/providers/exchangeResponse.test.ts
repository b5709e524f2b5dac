import type { ProviderSettings } from '@behalf/settings';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTokenReply, type TokenEndpointReply } from '../../../../test/tokenEndpoint.ts';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';
import type { ExchangeProvider } from '../exchangeProvider.ts';

const TYPES = 'urn:ietf:params:oauth:token-type:';

let rig: TokenEndpointRig;
beforeEach(async () => {
  rig = await createTokenEndpointRig();
});
afterEach(() => rig.close());

type Over = Partial<ProviderSettings>;
const at = (type: ProviderSettings['type'], overrides: Over = {}) =>
  rig.provider({
    ...{ type, authority: `${rig.endpoint.origin}/t`, tokenEndpoint: `${rig.endpoint.origin}/t/token` },
    ...{ clientId: 'app-1', clientSecret: 'secret', ...overrides },
  });

/** Every promise about answers holds for every kind of provider. */
async function each(test: (provider: ExchangeProvider) => Promise<void>): Promise<void> {
  for (const type of ['entra', 'jwt-bearer', 'token-exchange'] as const) await test(at(type));
}

/** Good for RFC 8693 too. */
const token = (overrides: Readonly<Record<string, unknown>> = {}) =>
  createTokenReply({ issued_token_type: `${TYPES}access_token`, ...overrides });

describe('answers', () => {
  test('only a bearer token that is one is taken', async () => {
    const refused: TokenEndpointReply[] = [
      ...[
        '',
        ' ',
        'two words',
        'line\nbreak',
        'tab\t',
        'nul\u0000',
        'ü',
        null,
        7,
        ['x'],
        { a: 1 },
        undefined,
      ].map((access_token) => token({ access_token })),
      ...['N_A', 'DPoP', 'pop', '', 'mac', null, 7, undefined].map((token_type) => token({ token_type })),
      {
        body: 'access_token=x&token_type=bearer',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      { ...(token() as object), headers: { 'content-type': 'text/html' } },
      { ...(token() as object), headers: { 'content-type': 'application/jsonp' } },
      { ...(token() as object), status: 201 },
      { body: '' },
      { body: '{"access_token":' },
      { body: '[]' },
      { body: 'null' },
    ];
    await each(async (provider) => {
      for (const reply of refused) {
        rig.endpoint.reply = () => reply;
        expect(await expectExchangeFault(runExchange(provider))).toMatchObject({
          code: 'OBO_EMPTY_RESPONSE',
          kind: 'idp_unavailable',
        });
      }
      for (const over of [{ token_type: 'bearer' }, { token_type: 'BEARER' }, {}]) {
        rig.endpoint.reply = () => token(over);
        expect(await runExchange(provider)).toMatchObject({ token: 'exchanged-token' });
      }
      rig.endpoint.reply = () => ({
        ...(token() as object),
        headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      });
      expect(await runExchange(provider)).toMatchObject({ token: 'exchanged-token' });
    });
  });

  test('a token that no header holds is none', async () => {
    await each(async (provider) => {
      const longest = 'x'.repeat(32 * 1_024);
      rig.endpoint.reply = () => token({ access_token: longest });
      expect(await runExchange(provider)).toMatchObject({ token: longest });
      rig.endpoint.reply = () => token({ access_token: `${longest}x` });
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({
        code: 'OBO_EMPTY_RESPONSE',
        detail: { hint: expect.stringContaining('32 KiB') },
      });
    });
  });

  test('an answer that does not end is cut off', async () => {
    const provider = at('jwt-bearer');
    rig.endpoint.reply = () => token({ padding: 'x'.repeat(1024 * 1024) });
    expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
  });

  test('a lifetime is counted from when the request was sent', async () => {
    await each(async (provider) => {
      const sent = rig.clock.now();
      const door = rig.fetch;
      rig.fetch = async (url, init) => {
        const response = await door(url, init);
        await rig.clock.advance(3_000);
        return response;
      };
      rig.endpoint.reply = () => token({ expires_in: 60 });
      expect(await runExchange(provider)).toMatchObject({ lifetimeMs: 60_000, expiresAt: sent + 60_000 });
      rig.fetch = door;
    });
  });

  test('a number, a number as text, five minutes unsaid, a day at most', async () => {
    const cases: [unknown, number | undefined][] = [
      [3599, 3_599_000],
      ['3599', 3_599_000],
      [0.5, 500],
      [undefined, 300_000],
      [null, 300_000],
      [1e12, 86_400_000],
      ['999999999999', 86_400_000],
      ...[0, -1, '0', '-5', 'soon', '', '1e3', '0x10', true, [60], {}].map((said): [unknown, undefined] => [
        said,
        undefined,
      ]),
    ];
    await each(async (provider) => {
      for (const [said, lifetimeMs] of cases) {
        rig.endpoint.reply = () => token({ expires_in: said });
        const outcome = runExchange(provider);
        if (lifetimeMs !== undefined) expect(await outcome).toMatchObject({ lifetimeMs });
        else expect(await expectExchangeFault(outcome)).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
      }
    });
  });

  test('what was granted is passed on as it was said', async () => {
    await each(async (provider) => {
      rig.endpoint.reply = () => token({ scope: 'api://files/Read  profile' });
      const scopes = ['api://files/read', 'api://files/write', 'openid', 'api://files/.default'];
      expect(await runExchange(provider, { scopes })).toMatchObject({
        scopes: ['api://files/Read', 'profile'],
      });
      rig.endpoint.reply = () => token();
      expect((await runExchange(provider, { scopes })).scopes).toBeUndefined();
    });
  });

  test('a proof of another kind is no bearer token', async () => {
    const provider = at('token-exchange');
    const refused = ['id_token', 'refresh_token', 'saml1', 'saml2', 'id-jag', 'own'].map(
      (name) => TYPES + name,
    );
    for (const issued of [...refused, undefined, null, 7, '', ['x']]) {
      rig.endpoint.reply = () => createTokenReply({ issued_token_type: issued });
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
    }
    for (const name of ['access_token', 'jwt']) {
      rig.endpoint.reply = () => createTokenReply({ issued_token_type: TYPES + name });
      expect(await runExchange(provider)).toMatchObject({ token: 'exchanged-token' });
    }
    // Asked for by name, a type of the provider's own is taken; an ID token is not even then.
    for (const [requestedTokenType, isTaken] of [
      ['urn:own', true],
      [`${TYPES}id_token`, false],
    ] as const) {
      rig.endpoint.reply = () => createTokenReply({ issued_token_type: requestedTokenType });
      const outcome = await runExchange(at('token-exchange', { requestedTokenType })).catch(() => undefined);
      expect(outcome !== undefined).toBe(isTaken);
    }
  });

  test('an error with status 200 is an error', async () => {
    await each(async (provider) => {
      rig.endpoint.reply = () => token({ error: 'invalid_grant' });
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({
        code: 'OBO_REJECTED',
        detail: { status: 200 },
      });
      rig.endpoint.reply = () => token({ error: '' });
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_TEMPORARY' });
    });
  });
});
