import { createHash } from 'node:crypto';
import { HiddenText, systemRandom } from '@behalf/kernel';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { EmbeddedJWK, calculateJwkThumbprint, decodeJwt, jwtVerify } from 'jose';
import { createDpop, createDpopKey, deriveDpopKey, parseDpopKey } from './dpop.ts';

const clock = createFakeClock();
const dpop = () => createDpop({ clock, random: systemRandom });
const prover = () => dpop().proverFor(createDpopKey(systemRandom));

describe('a proof of possession', () => {
  test('is what RFC 9449 says, and holds', async () => {
    const one = prover();
    const proof = one.createProof('POST', 'https://S.example:443/mcp?key=secret#part', 'the-token');
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt' });
    expect(payload).toEqual({
      ...{ htm: 'POST', htu: 'https://s.example/mcp', iat: Math.floor(clock.now() / 1000) },
      jti: expect.any(String),
      ath: createHash('sha256').update('the-token').digest('base64url'),
    });
    expect(Object.keys(protectedHeader.jwk ?? {}).sort()).toEqual(['crv', 'kty', 'x', 'y']);
    expect(await calculateJwkThumbprint(protectedHeader.jwk ?? {})).toBe(one.thumbprint);
    expect(decodeJwt(one.createProof('GET', 'https://s.example/token'))).not.toHaveProperty('ath');
  });

  test('is another one each time', () => {
    const one = prover();
    const jtis = Array.from(
      { length: 50 },
      () => decodeJwt(one.createProof('POST', 'https://s.example/')).jti,
    );
    expect(new Set(jtis).size).toBe(50);
  });

  test('repeats what its server said, and nobody else’s', () => {
    const one = prover();
    const nonceAt = (url: string) => decodeJwt(one.createProof('POST', url))['nonce'];
    const [early, late] = [
      one.createProof('POST', 'https://a.example/'),
      one.createProof('POST', 'https://a.example/'),
    ];
    expect(one.recordNonce('https://a.example/token', 'n-1', early)).toBe(true);
    // Sent before the other one heard of it: it did not say it either.
    expect(one.recordNonce('https://a.example/token', 'n-1', late)).toBe(true);
    expect(
      one.recordNonce('https://a.example/other', 'n-1', one.createProof('POST', 'https://a.example/')),
    ).toBe(false);
    expect(one.recordNonce('https://a.example/', undefined, early)).toBe(false);
    for (const odd of ['', 'with blank', 'quo"te', 'x'.repeat(513), 'nul\0'])
      expect(one.recordNonce('https://b.example/', odd, early)).toBe(false);
    expect(nonceAt('https://a.example/mcp')).toBe('n-1');
    expect(nonceAt('https://b.example/mcp')).toBeUndefined();
    expect(nonceAt('https://a.example:8443/mcp')).toBeUndefined();
    expect(one.recordNonce('https://a.example/token', 'n-2', early)).toBe(true);
    expect(nonceAt('https://a.example/mcp')).toBe('n-2');
  });

  test('remembers no more servers than it has room for', () => {
    const one = prover();
    for (let n = 0; n <= 1_000; n += 1)
      one.recordNonce(`https://s${n}.example/`, 'n', one.createProof('POST', 'https://s.example/'));
    expect(decodeJwt(one.createProof('POST', 'https://s0.example/'))['nonce']).toBeUndefined();
    expect(decodeJwt(one.createProof('POST', 'https://s1000.example/'))['nonce']).toBe('n');
  });
});

describe('a key', () => {
  test('is nobody else’s, and the same for the same secret', () => {
    const thumbprints = [
      createDpopKey(systemRandom),
      createDpopKey(systemRandom),
      deriveDpopKey('a'),
      deriveDpopKey('b'),
    ].map((key) => parseDpopKey(key).thumbprint);
    expect(new Set(thumbprints).size).toBe(4);
    expect(parseDpopKey(deriveDpopKey('a')).thumbprint).toBe(thumbprints[2]);
    expect(JSON.stringify({ key: deriveDpopKey('a') })).toBe('{"key":"[hidden]"}');
    expect(() => parseDpopKey(new HiddenText('{}'))).toThrow();
  });
});
