import { describe, expect, test } from '@jest/globals';
import { createClaimsChallenge } from '../../../test/oboRig.ts';
import { normalizeClaims, readChallengeClaims } from './claims.ts';

const acrs = { acrs: { essential: true, value: 'c1' } };
const wanted = '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}';
/** A claim that makes the whole as long as wanted. */
const padded = (length: number) => ({ a: 'x'.repeat(length - '{"access_token":{"a":""}}'.length) });

describe('what a server wants proven', () => {
  test('is what it wants of the access token, and nothing else', () => {
    const more = { id_token: { email: { essential: true } }, userinfo: { groups: null }, prompt: 'none' };
    for (const claims of [{ access_token: acrs }, { ...more, access_token: acrs }]) {
      expect(readChallengeClaims(createClaimsChallenge(claims))).toBe(wanted);
    }
    for (const claims of [more, {}, [], [{ access_token: acrs }], null, 'access_token', 7]) {
      expect(readChallengeClaims(createClaimsChallenge(claims))).toBeUndefined();
    }
    for (const odd of [null, [], [acrs], 'acrs', 7, true]) {
      expect(readChallengeClaims(createClaimsChallenge({ access_token: odd }))).toBeUndefined();
    }
    expect(
      readChallengeClaims({ ...createClaimsChallenge({ access_token: acrs }), error: 'invalid_token' }),
    ).toBeUndefined();
    expect(readChallengeClaims({ ...createClaimsChallenge({}), claims: undefined })).toBeUndefined();
    expect(readChallengeClaims(undefined)).toBeUndefined();
  });

  test('has two kilobytes at most, however it is written', () => {
    const longest = readChallengeClaims(createClaimsChallenge({ access_token: padded(2_048) }));
    expect(longest).toHaveLength(2_048);
    expect(readChallengeClaims(createClaimsChallenge({ access_token: padded(2_049) }))).toBeUndefined();
    expect(
      readChallengeClaims(createClaimsChallenge({ access_token: { a: 'é'.repeat(1_100) } })),
    ).toBeUndefined();
    // What is left out does not make it too long, until nobody wants to read it.
    expect(readChallengeClaims(createClaimsChallenge({ b: 'x'.repeat(2_500), access_token: acrs }))).toBe(
      wanted,
    );
    expect(
      readChallengeClaims(createClaimsChallenge({ b: 'x'.repeat(4_096), access_token: acrs })),
    ).toBeUndefined();
  });

  test('is one text, in whatever order it comes', () => {
    const one = { access_token: { nbf: { essential: true, value: '1' }, acrs: { values: ['b', 'a'] } } };
    const other = { access_token: { acrs: { values: ['b', 'a'] }, nbf: { value: '1', essential: true } } };
    const text = '{"access_token":{"acrs":{"values":["b","a"]},"nbf":{"essential":true,"value":"1"}}}';
    expect([one, other].map((claims) => readChallengeClaims(createClaimsChallenge(claims)))).toEqual([
      text,
      text,
    ]);
    expect([one, other].map((claims) => normalizeClaims(JSON.stringify(claims, null, 2)))).toEqual([
      text,
      text,
    ]);
  });

  test('is less than what the provider itself may want', () => {
    const claims = `{"access_token":{},"id_token":{"acr":{"value":"${'x'.repeat(3_000)}"}}}`;
    expect(normalizeClaims(claims)).toBe(claims);
  });
});
