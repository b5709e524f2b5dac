import { describe, expect, test } from '@jest/globals';
import { exchangeKey, type KeyParts } from './key.ts';

const base: KeyParts = {
  tenant: 'default',
  principal: 'default/ada',
  role: 'USER',
  serverId: 'notes',
  revision: 'r1',
  securedBy: 'root@1',
  provider: {
    provider: 'login',
    grant: 'jwt-bearer',
    endpoint: 'https://idp.example/token',
    clientId: 'behalf',
    credentialVersion: 'v1',
    actor: '',
  },
  subject: { issuer: 'https://idp.example', subject: 'ada', hash: 'h1' },
  audience: undefined,
  resource: undefined,
  scopes: ['b', 'a'],
  claims: undefined,
  keyThumbprint: undefined,
};

/** Every text that a key is made of, as a path into the parts. */
const texts: readonly (readonly [keyof KeyParts] | readonly ['provider' | 'subject', string])[] = [
  ['tenant'],
  ['principal'],
  ['role'],
  ['serverId'],
  ['revision'],
  ['securedBy'],
  ['provider', 'provider'],
  ['provider', 'grant'],
  ['provider', 'endpoint'],
  ['provider', 'clientId'],
  ['provider', 'credentialVersion'],
  ['provider', 'actor'],
  ['subject', 'issuer'],
  ['subject', 'subject'],
  ['subject', 'hash'],
  ['audience'],
  ['resource'],
  ['claims'],
  ['keyThumbprint'],
];

function withText(parts: KeyParts, [outer, inner]: (typeof texts)[number], value: unknown): KeyParts {
  if (inner === undefined) return { ...parts, [outer]: value };
  return { ...parts, [outer]: { ...(parts[outer] as object), [inner]: value } };
}

describe('the key of an exchanged token', () => {
  test('whatever differs, the key does', () => {
    const keys = new Map([[exchangeKey(base), 'base']]);
    for (const path of texts) {
      const key = exchangeKey(withText(base, path, 'other'));
      expect([path, keys.get(key)]).toEqual([path, undefined]);
      keys.set(key, path.join('.'));
    }
    for (const scopes of [['a'], ['a', 'b', 'c'], ['a b'], ['a', 'B'], []]) {
      const key = exchangeKey({ ...base, scopes });
      expect([scopes, keys.get(key)]).toEqual([scopes, undefined]);
      keys.set(key, scopes.join('|'));
    }
    // Every field of the parts is one of these: one that is added has to be told apart as well.
    const fields = Object.keys(base).filter((name) => name !== 'scopes');
    expect(new Set(texts.map(([outer]) => outer))).toEqual(new Set(fields));
    expect(texts.filter(([outer]) => outer === 'provider')).toHaveLength(Object.keys(base.provider).length);
  });

  test('what is absent is neither empty nor a word', () => {
    for (const path of texts.slice(-4)) {
      const keys = [undefined, '', 'null', '-', 'undefined'].map((value) =>
        exchangeKey(withText(base, path, value)),
      );
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  test('no two tuples share a key, however they are cut', () => {
    // Few letters that make up each other's borders, half a surrogate pair among them.
    const letters = [
      'a',
      ':',
      ';',
      ',',
      '"',
      '[',
      ']',
      '\\',
      '1',
      '-',
      '\n',
      '\ud800',
      '\udc00',
      '\ufffd',
      'é',
    ];
    const next = seeded(7);
    const text = () => Array.from({ length: next(4) }, () => letters[next(letters.length)]!).join('');
    const seen = new Map<string, string>();
    const shared: string[] = [];
    for (let i = 0; i < 20_000; i += 1) {
      let parts: KeyParts = { ...base, scopes: Array.from({ length: next(3) }, text) };
      for (let changes = next(4); changes >= 0; changes -= 1) {
        parts = withText(parts, texts[next(texts.length)]!, text());
      }
      const serialized = JSON.stringify({ ...parts, scopes: [...new Set(parts.scopes)].sort() });
      const key = exchangeKey(parts);
      if ((seen.get(key) ?? serialized) !== serialized) shared.push(serialized);
      seen.set(key, serialized);
    }
    expect(shared).toEqual([]);
    // The same end of one field at the beginning of the next.
    const cut = (tenant: string, principal: string) => exchangeKey({ ...base, tenant, principal });
    const cuts = [cut('a', 'bc'), cut('ab', 'c'), cut('abc', ''), cut('a","b', 'c'), cut('a', 'b","c')];
    expect(new Set(cuts).size).toBe(cuts.length);
  });

  test('order and doubles of scopes do not matter, and nothing is sent along', () => {
    const scopes = ['b', 'a', 'b', 'a'];
    expect(exchangeKey({ ...base, scopes })).toBe(exchangeKey(base));
    expect(exchangeKey({ ...base, scopes: ['a', 'b'] })).toBe(exchangeKey(base));
    expect(scopes).toEqual(['b', 'a', 'b', 'a']);
    expect(exchangeKey(base)).toMatch(/^[\w-]{43}$/);
  });
});

/** The same numbers in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
