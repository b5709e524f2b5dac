import {
  EffectiveConfigView,
  envVariables,
  parseEnv,
  secretMask,
  secretVariableNames,
} from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { environmentView } from './configuration.ts';

const KEY = 'a1'.repeat(32);

function shown(record: Record<string, string>) {
  const parsed = parseEnv(record);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  const all = EffectiveConfigView.shape.environment.parse(environmentView(parsed.env, record));
  return (name: string) => all.find((one) => one.name === name);
}

describe('the environment for people to look at', () => {
  test('every variable is there, with what holds and whether it was said', () => {
    const parsed = parseEnv({});
    const all = parsed.ok ? environmentView(parsed.env, {}) : [];
    expect(all.map(({ name }) => name)).toEqual(Object.keys(envVariables));
    expect(all.filter(({ isSecret }) => isSecret).map(({ name }) => name)).toEqual(
      Object.keys(envVariables).filter((name) => secretVariableNames.has(name)),
    );
    expect(all.some(({ isSet }) => isSet)).toBe(false);
    const said = shown({ DOMAIN_SERVER: 'https://chat.example/', USE_REDIS: 'FALSE', PORT: ' ' });
    expect(said('PUBLIC_URL')).toMatchObject({ value: 'https://chat.example', isSet: true });
    expect(said('USE_REDIS')).toMatchObject({ value: 'false', isSet: true });
    expect(said('PORT')).toMatchObject({ value: '3080', isSet: false });
    expect(said('MCP_OAUTH_FLOW_TTL')).toMatchObject({ value: '900000', isSet: false });
    expect(said('MONGO_URI')).toEqual({ name: 'MONGO_URI', value: null, isSet: false, isSecret: true });
  });

  test('a secret is never shown, of an address where it leads', () => {
    const view = shown({
      CREDS_KEY: KEY,
      METRICS_TOKEN: 'planted-token-0123456789',
      // Looks like an address, and is a password.
      REDIS_PASSWORD: 'redis://planted',
      BEHALF_API_KEY: 'https://planted.example',
    });
    for (const name of ['CREDS_KEY', 'METRICS_TOKEN', 'REDIS_PASSWORD', 'BEHALF_API_KEY']) {
      expect(view(name)).toEqual({ name, value: null, isSet: true, isSecret: true });
    }
    for (const [uri, value] of [
      [
        'mongodb://planted:planted@one.example:27017,two.example/db?replicaSet=planted',
        '*@one.example:27017,two.example/db?*',
      ],
      ['mongodb+srv://planted@cluster.example', '*@cluster.example'],
      ['mongodb://127.0.0.1:27017/behalf', '127.0.0.1:27017/behalf'],
      ['mongodb://[::1]:27017', '[::1]:27017'],
      // Whatever is not written as it should be may be part of a password.
      ['mongodb://planted:12/planted@one.example/db', null],
      ['mongodb://u:p@planted@one.example/db', null],
      ['mongodb://u:planted/x', null],
      ['mongodb://u:p@one.example/db?x=y@planted', null],
    ] as const) {
      const { value: seen } = shown({ MONGO_URI: uri, CREDS_KEY: KEY })('MONGO_URI') ?? {};
      const scheme = uri.slice(0, uri.indexOf('//') + 2);
      expect([uri, seen]).toEqual([uri, value === null ? null : scheme + value.replaceAll('*', secretMask)]);
    }
  });

  test('what opens an address is hidden in those that are no secrets, too', () => {
    const issuer = 'https://planted:planted@idp.example/7a1b2c3d-0000-4000-8000-1234567890ab/v2.0?planted';
    const view = shown({ OPENID_ISSUER: issuer, OPENID_CLIENT_ID: 'behalf' });
    expect(view('OPENID_ISSUER')?.value).toBe(
      `https://${secretMask}:${secretMask}@idp.example/7a1b2c3d-0000-4000-8000-1234567890ab/v2.0?${secretMask}`,
    );
    expect(view('OPENID_CALLBACK_URL')?.value).toBe('/oauth/openid/callback');
  });
});
