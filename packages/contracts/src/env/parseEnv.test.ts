import { describe, expect, test } from '@jest/globals';
import { parseEnv, type EnvRecord } from './parseEnv.ts';
import { envVariables, secretVariableNames } from './variables.ts';
import type { Variable } from './variable.ts';

const KEY = 'a1'.repeat(32);

function env(record: EnvRecord) {
  const result = parseEnv(record);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.env;
}

function wrong(record: EnvRecord): [string, string][] {
  const result = parseEnv(record);
  return result.ok ? [] : result.diagnostics.map(({ path, code }) => [path, code]);
}

describe('the environment', () => {
  test('an empty environment starts the default', () => {
    expect(env({})).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 3080,
      CONFIG_PATH: './librechat.yaml',
      BEHALF_DATA_DIR: './data',
      LOG_LEVEL: 'info',
      TRUST_PROXY: 0,
      OPENID_ROLE_CLAIM: 'roles',
      OPENID_CALLBACK_URL: '/oauth/openid/callback',
      MCP_USER_CONNECTION_IDLE_TIMEOUT: 900_000,
    });
    expect(env({}).MONGO_URI).toBeUndefined();
    expect(env({ PORT: '', OPENID_ISSUER: '  ', MONGO_URI: '' }).PORT).toBe(3080);
    for (const nothing of ['', '  '])
      expect(env({ CONFIG_PATH: nothing }).CONFIG_PATH).toBe('./librechat.yaml');
    expect(Object.isFrozen(env({}))).toBe(true);
  });

  test('every default satisfies its own schema, and no secret has one', () => {
    for (const [name, variable] of Object.entries<Variable>(envVariables)) {
      if (variable.default !== undefined)
        expect([name, variable.schema.safeParse(variable.default).success]).toEqual([name, true]);
      if (variable.secret) expect([name, variable.default]).toEqual([name, undefined]);
    }
  });

  test('a bad value stops the start with name, reason and suggestion', () => {
    expect(parseEnv({ PORT: '30x80' })).toEqual({
      ok: false,
      diagnostics: [
        {
          path: 'PORT',
          code: 'wrong_value',
          message: 'must be a whole number',
          suggestion: 'for example 3080',
        },
      ],
      ignored: [],
    });
    for (const [name, value] of [
      ['PORT', '70000'],
      ['PORT', '-1'],
      ['HOST', 'http://x'],
      ['LOG_LEVEL', 'verbose'],
      ['TRUST_PROXY', 'true'],
      ['CONFIG_PATH', 'https://x.example/librechat.yaml'],
      ['PUBLIC_URL', 'gateway.example'],
      ['PUBLIC_URL', 'https://gateway.example../'],
      ['MONGO_URI', 'postgres://x'],
      ['REDIS_URI', 'redis://a,redis://b'],
      ['USE_REDIS', 'maybe'],
      ['CREDS_KEY', 'abc'],
      ['CREDS_KEY', `${KEY},`],
      ['OPENID_ISSUER', 'http://idp.example'],
      ['OPENID_ADMIN_ROLE_TOKEN_KIND', 'refresh'],
      ['OPENID_CALLBACK_URL', '//evil.example'],
      ['PROXY', 'ftp://x'],
      ['MCP_STREAMABLE_HTTP_MAX_RESPONSE_BYTES', '0'],
      ['NODE_ENV', 'prod'],
    ] as const) {
      expect([name, value, wrong({ [name]: value })]).toEqual([name, value, [[name, 'wrong_value']]]);
    }
    expect(wrong({ PORT: 'x', LOG_LEVEL: 'y' })).toHaveLength(2);
  });

  test('values that belong together', () => {
    expect(wrong({ OPENID_CLIENT_ID: 'x' })).toEqual([['OPENID_ISSUER', 'missing']]);
    expect(wrong({ OPENID_ISSUER: 'https://idp.example' })).toEqual([['OPENID_CLIENT_ID', 'missing']]);
    expect(wrong({ OPENID_ISSUER: 'https://idp.example', OPENID_AUDIENCE: 'api' })).toEqual([]);
    const opaque = { OPENID_ISSUER: 'https://idp.example', OPENID_INTROSPECTION: 'true' };
    expect(wrong({ ...opaque, OPENID_CLIENT_ID: 'x' })).toEqual([['OPENID_CLIENT_SECRET', 'missing']]);
    expect(wrong({ USE_REDIS: 'true' })).toEqual([['REDIS_URI', 'missing']]);
    expect(wrong({ MONGO_URI: 'mongodb://h/db' })).toEqual([['CREDS_KEY', 'missing']]);
    expect(wrong({ REDIS_URI: 'redis://h' })).toEqual([['CREDS_KEY', 'missing']]);
    expect(wrong({ REDIS_KEY_PREFIX_VAR: 'K_REVISION' })).toEqual([['REDIS_KEY_PREFIX_VAR', 'missing']]);
  });

  test('an authority for Redis without TLS is told here, and the password is not', () => {
    const redis = { REDIS_CA: '/ca.pem', CREDS_KEY: KEY };
    const result = parseEnv({ ...redis, REDIS_URI: 'redis://u:planted@h:6379' });
    expect(result).toMatchObject({
      ok: false,
      diagnostics: [
        {
          path: 'REDIS_URI',
          code: 'wrong_value',
          message: 'must begin with rediss:// because REDIS_CA is set',
          suggestion: 'correct it, or unset REDIS_CA',
        },
      ],
    });
    expect(JSON.stringify(result)).not.toContain('planted');
    expect(wrong({ ...redis, REDIS_URI: 'rediss://u:planted@h:6379' })).toEqual([]);
    expect(wrong({ ...redis, REDIS_URI: 'redis://h', USE_REDIS: 'false' })).toEqual([]);
    expect(wrong({ REDIS_CA: '/ca.pem' })).toEqual([]);
  });

  test('no value ever stands in a diagnostic', () => {
    for (const name of Object.keys(envVariables)) {
      const result = parseEnv({ [name]: 'planted secret value' });
      expect([name, JSON.stringify(result.ok ? [] : result.diagnostics).includes('planted')]).toEqual([
        name,
        false,
      ]);
    }
    expect(JSON.stringify(parseEnv({ OPENID_CLIENT_SECERT: 'planted' }))).not.toContain('planted');
  });

  test('a misspelt name of ours is an error with the nearest one', () => {
    expect(parseEnv({ OPENID_ISUSER: 'https://x.example', BEHALF_DATADIR: 'x' })).toMatchObject({
      ok: false,
      diagnostics: [
        { path: 'OPENID_ISUSER', code: 'unknown_variable', suggestion: 'did you mean "OPENID_ISSUER"?' },
        { path: 'BEHALF_DATADIR', suggestion: 'did you mean "BEHALF_DATA_DIR"?' },
      ],
    });
    expect(
      wrong({
        BEHALF_TEST_REQUIRE: 'redis',
        BEHALF_URL: 'http://localhost:3080',
        PATH: '/bin',
        SOMETHING: 'x',
      }),
    ).toEqual([]);
  });

  test('a variable of LibreChat that is not honoured is named, not refused', () => {
    const result = parseEnv({
      OPENID_SESSION_SECRET: 'x',
      OPENID_USE_PKCE: 'true',
      MCP_CB_MAX_CYCLES: '7',
      JWT_SECRET: 'x',
      MEILI_HOST: '',
      PORT: '1',
    });
    expect(result).toMatchObject({
      ok: true,
      ignored: ['JWT_SECRET', 'MCP_CB_MAX_CYCLES', 'OPENID_SESSION_SECRET', 'OPENID_USE_PKCE'],
    });
  });

  test('names and forms of an existing .env carry over', () => {
    expect(env({ DOMAIN_SERVER: 'https://chat.example/' }).PUBLIC_URL).toBe('https://chat.example');
    expect(env({ DOMAIN_SERVER: 'https://a.example', PUBLIC_URL: 'https://b.example' }).PUBLIC_URL).toBe(
      'https://b.example',
    );
    expect(env({ MCP_OAUTH_FLOW_TTL: '15 * 60 * 1000' }).MCP_OAUTH_FLOW_TTL).toBe(900_000);
    const redis = { REDIS_URI: 'redis://h:6379', CREDS_KEY: KEY };
    expect(env({ ...redis, USE_REDIS: 'false' }).REDIS_URI).toBeUndefined();
    expect(env({ REDIS_URI: 'redis://h', USE_REDIS: 'false' }).CREDS_KEY).toBeUndefined();
    expect(env(redis).REDIS_URI).toBe('redis://h:6379');
    expect(env({ ...redis, REDIS_KEY_PREFIX_VAR: 'K_REVISION', K_REVISION: 'rev7' }).REDIS_KEY_PREFIX).toBe(
      'rev7',
    );
    expect(
      env({ OPENID_ISSUER: 'https://idp.example/.well-known/openid-configuration', OPENID_CLIENT_ID: 'x' })
        .OPENID_ISSUER,
    ).toBe('https://idp.example');
    expect(env({ OPENID_ISSUER: 'http://127.0.0.1:9000', OPENID_CLIENT_ID: 'x' }).OPENID_ISSUER).toBe(
      'http://127.0.0.1:9000',
    );
  });

  test('one key or several; never the one of a public example', () => {
    expect(env({ CREDS_KEY: KEY.toUpperCase() }).CREDS_KEY).toEqual([KEY]);
    expect(env({ CREDS_KEY: `${KEY}, ${'b2'.repeat(32)}` }).CREDS_KEY).toEqual([KEY, 'b2'.repeat(32)]);
    expect(wrong({ CREDS_KEY: 'f34be427ebb29de8d88c107a71546019685ed8b241d8f2ed00c3df97ad2566f0' })).toEqual([
      ['CREDS_KEY', 'wrong_value'],
    ]);
  });

  test('the lower-case variable wins, and set to nothing it switches its twin off', () => {
    const upper = { HTTPS_PROXY: 'http://upper.example' };
    expect(env(upper).HTTPS_PROXY).toBe('http://upper.example');
    expect(env({ ...upper, https_proxy: 'http://lower.example' }).HTTPS_PROXY).toBe('http://lower.example');
    expect(env({ ...upper, https_proxy: '' }).HTTPS_PROXY).toBeUndefined();
    expect(env({ no_proxy: 'localhost,10.0.0.0/8' }).NO_PROXY).toBe('localhost,10.0.0.0/8');
  });

  test('a proxy may hold a password: it works, and is a secret in every spelling', () => {
    const url = 'http://u:planted@p.example:3128';
    expect(env({ PROXY: url, HTTP_PROXY: url, https_proxy: url })).toMatchObject({
      PROXY: url,
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
    });
    for (const name of ['PROXY', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'])
      for (const spelling of [name, name === 'PROXY' ? name : name.toLowerCase()])
        expect([spelling, secretVariableNames.has(spelling)]).toEqual([spelling, true]);
    expect(secretVariableNames.has('NO_PROXY')).toBe(false);
  });
});
