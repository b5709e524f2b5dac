import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemRandom } from './random.ts';
import { createKeyring, keyId, SealError, type UnsealFailure, type SealContext } from './seal.ts';

const keyA = Buffer.alloc(32, 1);
const keyB = Buffer.alloc(32, 2);
const context: SealContext = {
  tenant: 'default',
  principal: 'user:u1',
  server: 'github',
  kind: 'oauth',
  field: 'access_token',
  binding: ['record', '7'],
};
const ring = createKeyring([keyA], systemRandom);

function reasonOf(attempt: () => unknown): UnsealFailure | 'opened' {
  try {
    attempt();
    return 'opened';
  } catch (error) {
    expect(error).toBeInstanceOf(SealError);
    return (error as SealError).reason;
  }
}

describe('seal', () => {
  test('what was sealed opens unchanged, whatever the text', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ maxLength: 50 }));
    fc.assert(
      fc.property(text, (plain) => {
        const envelope = ring.seal(plain, context);
        expect(envelope).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
        expect(ring.open(envelope, context)).toBe(plain);
        if (plain.length >= 6) expect(envelope).not.toContain(plain);
      }),
    );
    expect(ring.open(ring.seal('', context), context)).toBe('');
  });

  test('a value opens only where it belongs: every part of the context counts', () => {
    const envelope = ring.seal('secret', context);
    for (const part of ['tenant', 'principal', 'server', 'kind', 'field'] as const) {
      expect([part, reasonOf(() => ring.open(envelope, { ...context, [part]: 'other' }))]).toEqual([
        part,
        'tampered',
      ]);
    }
    const { binding: _, ...unbound } = context;
    const bindings = [[], ['record'], ['record', '8'], ['7', 'record'], ['record', '7', ''], ['record7']];
    for (const binding of bindings) {
      expect(reasonOf(() => ring.open(envelope, { ...context, binding }))).toBe('tampered');
    }
    expect(reasonOf(() => ring.open(envelope, unbound))).toBe('tampered');
  });

  test('no two tuples share an encoding', () => {
    const bound = (...binding: string[]) => ({ ...context, binding });
    expect(reasonOf(() => ring.open(ring.seal('x', bound('a', 'bc')), bound('ab', 'c')))).toBe('tampered');
    expect(reasonOf(() => ring.open(ring.seal('x', bound('ab')), bound('a', 'b')))).toBe('tampered');
    expect(reasonOf(() => ring.open(ring.seal('x', bound('')), bound()))).toBe('tampered');
    const shifted = { ...context, principal: 'user:u1g', server: 'ithub' };
    expect(reasonOf(() => ring.open(ring.seal('x', context), shifted))).toBe('tampered');
    // The subkey's own tuple, under which two tenants must not share a key either.
    const tenants = [
      { ...context, tenant: 'ab', kind: 'c' },
      { ...context, tenant: 'a', kind: 'bc' },
    ] as const;
    expect(reasonOf(() => ring.open(ring.seal('x', tenants[0]), tenants[1]))).toBe('tampered');
  });

  test('a flipped bit anywhere does not open', () => {
    // Three lengths: the last character of base64url carries 0, 2 or 4 bits that a lenient decoder ignores.
    for (const plain of ['abc', 'abcd', 'abcde']) {
      const bytes = Buffer.from(ring.seal(plain, context), 'latin1');
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        expect([bit, reasonOf(() => ring.open(flipped.toString('latin1'), context))]).not.toContain('opened');
      }
    }
  });

  test('what is cut, lengthened, respelt or was never sealed does not open', () => {
    const envelope = ring.seal('secret', context);
    const [version, kid, nonce, body] = envelope.split('.') as [string, string, string, string];
    const malformed = [
      '',
      'secret',
      'plain text with spaces',
      '....',
      `${envelope}.`,
      `${envelope}.x`,
      `${envelope}=`,
      ` ${envelope}`,
      `${envelope}\n`,
      `v2.${kid}.${nonce}.${body}`,
      `${version}.${kid}.${nonce}`,
      `${version}.${kid}.${nonce}.`,
      `${version}.${kid}.${nonce.slice(0, 4)}.${body}`,
      `${version}.${kid}.${nonce}.${body.slice(0, 8)}`,
    ];
    for (const text of malformed) {
      expect([text, reasonOf(() => ring.open(text, context))]).toEqual([text, 'malformed']);
    }
    expect(reasonOf(() => ring.open(`${version}.${kid}.${nonce}.${body.slice(0, 24)}`, context))).toBe(
      'tampered',
    );
    const other = ring.seal('other', context).split('.');
    expect(reasonOf(() => ring.open([version, kid, other[2], body].join('.'), context))).toBe('tampered');
  });

  test('the error says nothing of the value', () => {
    const envelope = ring.seal('very secret', context);
    try {
      ring.open(envelope, { ...context, field: 'x' });
    } catch (error) {
      expect((error as Error).message).toBe('Cannot open the sealed value: tampered');
    }
    expect.assertions(1);
  });

  test('the first key writes and all read; an unknown key says so', () => {
    const old = createKeyring([keyA], systemRandom);
    const rotating = createKeyring([keyB, keyA], systemRandom);
    const rotated = createKeyring([keyB], systemRandom);
    expect(rotating.writingKeyId).toBe(keyId(keyB));
    expect(rotating.open(old.seal('x', context), context)).toBe('x');
    expect(rotated.open(rotating.seal('x', context), context)).toBe('x');
    expect(reasonOf(() => rotated.open(old.seal('x', context), context))).toBe('unknown_key');
  });

  test('rewrapping moves a value to the writing key, once', () => {
    const rotating = createKeyring([keyB, keyA], systemRandom);
    const before = createKeyring([keyA], systemRandom).seal('x', context);
    const after = rotating.rewrap(before, context);
    expect(after.split('.')[1]).toBe(keyId(keyB));
    expect(createKeyring([keyB], systemRandom).open(after, context)).toBe('x');
    expect(rotating.rewrap(after, context)).toBe(after);
    expect(reasonOf(() => rotating.rewrap(before, { ...context, field: 'other' }))).toBe('tampered');
  });

  test('a key of another length, or none, is refused; an id names a key without telling it', () => {
    expect(() => createKeyring([], systemRandom)).toThrow(RangeError);
    expect(() => createKeyring([keyA, Buffer.alloc(16)], systemRandom)).toThrow(RangeError);
    expect(keyId(keyA)).toMatch(/^[0-9a-f]{8}$/);
    expect(keyId(keyA)).not.toBe(keyId(keyB));
    expect(keyA.toString('hex')).not.toContain(keyId(keyA));
  });

  test('no nonce repeats, so equal values look different', () => {
    const envelopes = Array.from({ length: 2_000 }, () => ring.seal('same', context));
    expect(new Set(envelopes.map((envelope) => envelope.split('.')[2])).size).toBe(2_000);
    expect(new Set(envelopes.map((envelope) => envelope.split('.')[3])).size).toBe(2_000);
  });

  test('tenants and kinds are encrypted under keys of their own', () => {
    // With one nonce for all, equal key streams would show as equal ciphertext before the tag.
    const fixed = createKeyring([keyA], { ...systemRandom, bytes: (length) => new Uint8Array(length) });
    const streamOf = (overrides: Partial<SealContext>) =>
      Buffer.from(fixed.seal('same text', { ...context, ...overrides }).split('.')[3]!, 'base64url')
        .subarray(0, -16)
        .toString('hex');
    expect(streamOf({ field: 'other' })).toBe(streamOf({}));
    expect(streamOf({ tenant: 'other' })).not.toBe(streamOf({}));
    expect(streamOf({ kind: 'other' })).not.toBe(streamOf({}));
  });

  test('the first key makes a MAC and all verify; an unknown key is known as such', () => {
    const old = createKeyring([keyA], systemRandom);
    const rotating = createKeyring([keyB, keyA], systemRandom);
    const rotated = createKeyring([keyB], systemRandom);
    const before = old.mac('text', context);
    expect(before).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{43}$/);
    expect(before.split('.')[1]).toBe(keyId(keyA));
    expect(rotating.mac('text', context).split('.')[1]).toBe(keyId(keyB));
    expect(rotating.verifyMac('text', before, context)).toBe(true);
    expect(rotated.verifyMac('text', rotating.mac('text', context), context)).toBe(true);
    expect(rotated.verifyMac('text', before, context)).toBe(false);
    expect([rotating.hasKeyFor(before), rotated.hasKeyFor(before), rotated.hasKeyFor('')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('a MAC holds for its text and its whole context alone', () => {
    const mac = ring.mac('text', context);
    expect(ring.verifyMac('text', mac, context)).toBe(true);
    for (const text of ['', 'tex', 'text ', 'Text']) expect(ring.verifyMac(text, mac, context)).toBe(false);
    for (const part of ['tenant', 'principal', 'server', 'kind', 'field'] as const) {
      expect([part, ring.verifyMac('text', mac, { ...context, [part]: 'other' })]).toEqual([part, false]);
    }
    for (const binding of [[], ['record'], ['record', '8'], ['7', 'record'], ['record', '7', '']]) {
      expect(ring.verifyMac('text', mac, { ...context, binding })).toBe(false);
    }
    // What ends the context must not begin the text.
    const moved = ring.mac('\u0000\u0000\u0000\u00017text', { ...context, binding: ['record'] });
    expect(ring.verifyMac('text', moved, context)).toBe(false);
  });

  test('a MAC that was changed in any bit, cut or respelt is none', () => {
    const mac = ring.mac('text', context);
    const bytes = Buffer.from(mac, 'latin1');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect([bit, ring.verifyMac('text', flipped.toString('latin1'), context)]).toEqual([bit, false]);
    }
    const [version, kid, digest] = mac.split('.') as [string, string, string];
    const wrong = ['', '..', `${mac}.`, `${mac}=`, ` ${mac}`, `${version}.${kid}`, `${version}.${kid}.`];
    wrong.push(`${version}.${kid}.${digest.slice(0, -1)}`, `v2.${kid}.${digest}`, `${version}..${digest}`);
    for (const text of wrong) expect([text, ring.verifyMac('text', text, context)]).toEqual([text, false]);
  });

  test('a sealed value is no MAC, and a MAC opens nothing', () => {
    expect(ring.verifyMac('text', ring.seal('text', context), context)).toBe(false);
    expect(reasonOf(() => ring.open(ring.mac('text', context), context))).toBe('malformed');
  });
});
