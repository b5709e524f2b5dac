import { describe, expect, test } from '@jest/globals';
import { systemRandom } from './random.ts';
import { createRedactor } from './redact.ts';
import { createKeyring } from './seal.ts';

const redactor = createRedactor();
const PLANTED = 'pl4nted-S3cret-v4lue';
/** Everything a log line is made of, as it would be written. */
const shown = (value: unknown, live: string[] = []) => JSON.stringify(createRedactor(live).value(value));

describe('redaction by field name', () => {
  test('a secret field is masked whatever its value looks like, at any depth', () => {
    const names = [
      ...[
        'authorization',
        'Authorization',
        'Proxy-Authorization',
        'cookie',
        'Set-Cookie',
        'x-api-key',
        'X-Auth-Token',
      ],
      ...[
        'password',
        'newPassword',
        'passphrase',
        'secret',
        'client_secret',
        'clientSecret',
        'OPENID_CLIENT_SECRET',
      ],
      ...['token', 'access_token', 'accessToken', 'accesstoken', 'refresh_token', 'idToken', 'sessionToken'],
      ...[
        'subject_token',
        'apiKey',
        'api_key',
        'apikey',
        'private_key',
        'privateKey',
        'credential',
        'CREDS_KEY',
      ],
      ...['assertion', 'client_assertion', 'code_verifier', 'codeVerifier'],
    ];
    for (const name of names) {
      const text = shown({ a: [{ b: { [name]: PLANTED } }] });
      expect([name, text.includes(PLANTED)]).toEqual([name, false]);
      expect(shown({ [name]: [PLANTED, { deep: PLANTED }] })).not.toContain(PLANTED);
      expect(shown({ [name]: 1234567 })).not.toContain('1234567');
    }
  });

  test('what is not a secret stays readable', () => {
    const value = {
      code: 'MCP_FORBIDDEN',
      maxTokens: 5,
      broken: 'yes',
      hasPassword: true,
      token: null,
      password: undefined,
      status: 404,
      keyId: '0a1b2c3d',
      tokenEndpoint: 'https://idp.example/token',
      list: ['one', 'two'],
    };
    expect(redactor.value(value)).toEqual(value);
  });

  test('headers are masked as an object, as Headers and as a Map', () => {
    const headers = {
      authorization: `Custom ${PLANTED}`,
      'set-cookie': `sid=${PLANTED}`,
      accept: 'text/html',
    };
    for (const form of [headers, new Headers(headers), new Map(Object.entries(headers))]) {
      const text = shown({ headers: form });
      expect(text).not.toContain(PLANTED);
      expect(text).toContain('text/html');
    }
  });
});

describe('redaction by shape', () => {
  const secret = 'hunter2hunter2';
  const planted: Record<string, string> = {
    bearer: `got Authorization: Bearer ${secret}.x_y~z+/= from there`,
    'lower-case bearer': `authorization: bearer ${secret}`,
    basic: `Basic ${Buffer.from(secret).toString('base64')}`,
    jwt: `x eyJhbGciOiJub25lIn0.${Buffer.from(secret).toString('base64url')}.c2lnbmF0dXJl y`,
    'two-part jwt': `eyJhbGciOiJub25lIn0.${Buffer.from(secret).toString('base64url')}`,
    'URL password': `cannot reach mongodb://ada:${secret}@db.example/x`,
    'URL password with @': `redis://ada:p@${secret}@db.example`,
    'URL user': `https://${secret}@git.example/repo.git`,
    'empty user': `redis://:${secret}@127.0.0.1:6379`,
    'setup link': `GET /setup?token=${secret} 200`,
    query: `/oauth/callback?state=ok&code=${secret}&iss=x`,
    form: `grant_type=x&client_secret=${secret}&refresh_token=${secret}`,
    'environment line': `OPENID_CLIENT_SECRET=${secret}`,
    'quoted value': `password="two words ${secret}" api-key='${secret}, too'`,
    json: `{"password":"two, words ${secret}","accessToken" : "${secret}"}`,
    'json with quotes': JSON.stringify({ password: `a"b\\${secret}` }),
    'json in json': JSON.stringify({ body: JSON.stringify({ client_secret: `a ${secret}`, user: 'ada' }) }),
    'json in json in json': JSON.stringify(
      JSON.stringify({ body: JSON.stringify({ token: `a ${secret}` }) }),
    ),
  };
  test('a secret in free text is masked by what surrounds it', () => {
    for (const [shape, text] of Object.entries(planted)) {
      for (const spelt of [
        secret,
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('base64url'),
      ]) {
        expect([shape, redactor.text(text).includes(spelt)]).toEqual([shape, false]);
        expect([shape, shown({ a: [{ note: text }] }).includes(spelt)]).toEqual([shape, false]);
      }
    }
  });

  test('what stands around a secret stays', () => {
    expect(redactor.text(`GET /setup?token=${secret}&x=1 200`)).toBe('GET /setup?token=[redacted]&x=1 200');
    expect(redactor.text(planted['URL password']!)).toBe('cannot reach mongodb://[redacted]@db.example/x');
    expect(redactor.text('{"url":"http://h/p","email":"ada@example.com"}')).toContain(
      'http://h/p","email":"ada@example.com',
    );
    expect(redactor.text('status_code=200 errorcode=5')).toBe('status_code=200 errorcode=5');
    expect(redactor.text(planted['json in json']!)).toContain('ada');
  });

  test('a sealed value is masked too', () => {
    const sealed = createKeyring([new Uint8Array(32)], systemRandom).seal('x', {
      tenant: 't',
      principal: '-',
      server: '-',
      kind: 'k',
      field: 'f',
    });
    expect(redactor.text(`row ${sealed} end`)).toBe('row [redacted] end');
  });
});

describe('redaction of live values', () => {
  test('a live value is masked wherever it stands, in every spelling', () => {
    const live = 'a "b"\\ ü/c d&e=é!';
    const all = createRedactor([live]);
    const texts = [
      `x${live}y`,
      JSON.stringify({ note: live }),
      `https://h/?q=${encodeURIComponent(live)}`,
      new URLSearchParams({ q: live }).toString(),
    ];
    for (const text of texts) expect([text, all.text(text).includes('[redacted]')]).toEqual([text, true]);
    expect(
      shown({ note: live, [`key ${live}`]: 1, url: new URL(`https://h/?q=${encodeURIComponent(live)}`) }, [
        live,
      ]),
    ).not.toMatch(/ü|%C3%BC/);
  });

  test('of two live values that overlap, no part is left', () => {
    expect(createRedactor(['secret', 'secret-and-more']).text('x secret-and-more y')).toBe('x [redacted] y');
  });

  test('a value too short to be a secret masks nothing', () => {
    expect(createRedactor(['', 'a', '12345']).text('a 12345 b')).toBe('a 12345 b');
    expect(createRedactor(['123456']).text('a 123456 b')).toBe('a [redacted] b');
  });

  test('half a surrogate pair in a live value ends no process', () => {
    expect(createRedactor(['broken\ud800value']).text('x broken\ud800value y')).toBe('x [redacted] y');
  });
});

describe('redaction of errors', () => {
  test('an error keeps name, message, fields and its causes, all masked', () => {
    const root = Object.assign(new Error(`connect ECONNREFUSED token=${PLANTED}`), {
      code: 'ECONNREFUSED',
      password: PLANTED,
    });
    const error = new TypeError('fetch failed', { cause: new Error(`Bearer ${PLANTED}`, { cause: root }) });
    const value = redactor.value({ error }) as { error: object };
    expect(value.error).toEqual({
      name: 'TypeError',
      message: 'fetch failed',
      cause: {
        name: 'Error',
        message: 'Bearer [redacted]',
        cause: {
          name: 'Error',
          message: 'connect ECONNREFUSED token=[redacted]',
          code: 'ECONNREFUSED',
          password: '[redacted]',
        },
      },
    });
    const many = new AggregateError([new Error('one'), new Error(`secret=${PLANTED}`)], 'all failed');
    expect(redactor.value(many)).toMatchObject({
      message: 'all failed',
      errors: [{ message: 'one' }, { message: 'secret=[redacted]' }],
    });
    expect(redactor.value(new Error('x', { cause: `token=${PLANTED}` }))).toMatchObject({
      cause: 'token=[redacted]',
    });
  });

  test('an endless chain of causes is cut', () => {
    let error = new Error('first');
    for (let i = 0; i < 1_000; i += 1) error = new Error(`error ${i}`, { cause: error });
    expect(JSON.stringify(redactor.value(error)).length).toBeLessThan(1_000);
    const own = new Error('own cause');
    own.cause = own;
    expect(redactor.value(own)).toEqual({ name: 'Error', message: 'own cause', cause: '[repeated]' });
  });
});

describe('redaction of hostile values', () => {
  test('cycles end, also where every node knows every other', () => {
    const nodes = Array.from({ length: 30 }, (_, i) => ({ i, all: [] as unknown[] }));
    for (const node of nodes) node.all = nodes;
    expect(JSON.stringify(redactor.value(nodes)).length).toBeLessThan(5_000);
    // No cycle, and still 10^8 leaves when written out.
    let shared: unknown = 'leaf';
    for (let i = 0; i < 8; i += 1) shared = Array.from({ length: 10 }, () => shared);
    expect(JSON.stringify(redactor.value(shared)).length).toBeLessThan(5_000);
  });

  test('depth is bounded', () => {
    let deep: unknown = PLANTED;
    for (let i = 0; i < 100_000; i += 1) deep = { deep };
    expect(shown(deep)).toContain('[too deep]');
    expect(shown(deep)).not.toContain(PLANTED);
  });

  test('a getter or a proxy that throws, bytes, dates and bigints do no harm', () => {
    const value = {
      get trap(): string {
        throw new Error('trapped');
      },
    };
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('trapped');
        },
      },
    );
    expect(redactor.value({ a: value, b: proxy, c: 1 })).toEqual({
      a: '[unreadable]',
      b: '[unreadable]',
      c: 1,
    });
    expect(shown({ key: Buffer.from(PLANTED), n: 5n, at: new Date(0), never: new Date(NaN) })).toBe(
      '{"key":"[20 bytes]","n":"5","at":"1970-01-01T00:00:00.000Z","never":"[invalid date]"}',
    );
    expect(redactor.value(JSON.parse('{"__proto__":{"password":"pl4nted"},"x":1}'))).toHaveProperty('x', 1);
    for (const plain of [undefined, null, 1, true]) expect(redactor.value(plain)).toBe(plain);
  });

  test('a text made to be slow is cut before it is looked at, and a long one without half a secret', () => {
    for (const piece of [
      'eyJ-',
      'a.',
      'a://',
      'token="',
      '"token":"',
      'Bearer ',
      '\\"',
      '\\"token\\":\\"',
      'a:b@',
    ]) {
      const out = redactor.text(piece.repeat(2_000_000 / piece.length));
      // What shapes are looked for in is bounded, whatever comes: masks may add to it, and little.
      expect(out.length).toBeLessThan(100_000);
      expect(out.endsWith('[truncated]')).toBe(true);
    }
    for (let shift = 0; shift < 40; shift += 1) {
      const long = redactor.text(
        `${' '.repeat(32_768 - 40 + shift)}redis://ada:${PLANTED}@db.example ${' '.repeat(100)}`,
      );
      expect(long).not.toContain(PLANTED.slice(0, 6));
    }
  });

  test('headers and settings as text, and keys by their field name', () => {
    const redactor = createRedactor();
    const text = (line: string) => redactor.text(line);
    for (const planted of [
      'password: pl4nted',
      'x-api-key: pl4nted',
      'Cookie: behalf_session=pl4nted; theme=dark',
      'AWS_SECRET_ACCESS_KEY=pl4nted',
      'signing-key="pl4nted"',
    ]) {
      expect(text(`before ${planted}`)).toMatch(/^before .*\[redacted\]/);
      expect(text(`before ${planted}`)).not.toContain('pl4nted');
    }
    expect(
      JSON.stringify(redactor.value({ secretKey: 'pl4nted', accessKey: 'pl4nted', signing_key: 'pl4nted' })),
    ).not.toContain('pl4nted');
    expect(text('status code: 200, my token is nice')).toBe('status code: 200, my token is nice');
  });

  test('texts built to be slow are done at once, however many they are', () => {
    const redactor = createRedactor();
    const slow = `token\\":\\"${'\\'.repeat(32_000)}`;
    // Quadratic matching would take minutes here, and the test would not end in time.
    const out = redactor.value(Array.from({ length: 500 }, () => slow)) as string[];
    expect(out).toHaveLength(500);
    expect(out.at(-1)).toBe('[truncated]');
  });
});
