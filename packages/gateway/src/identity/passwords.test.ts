import { systemRandom } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { createPasswords } from './accounts.ts';

const passwords = createPasswords(systemRandom);

describe('passwords', () => {
  test('the password verifies, and no other', async () => {
    const hash = await passwords.hash('correct horse');
    expect(hash).not.toContain('correct');
    expect(await passwords.verify('correct horse', hash)).toBe(true);
    for (const wrong of ['', 'correct hors', 'Correct horse', 'correct horse ']) {
      expect(await passwords.verify(wrong, hash)).toBe(false);
    }
    expect(await passwords.hash('correct horse')).not.toBe(hash);
  });

  test('a hash costs what OWASP asks for and says so', async () => {
    expect((await passwords.hash('x')).split('$').slice(0, 4)).toEqual(['scrypt', '32768', '8', '3']);
  });

  test('an accent typed in one piece or two is one password', async () => {
    const hash = await passwords.hash('caf\u00e9');
    expect(await passwords.verify('cafe\u0301', hash)).toBe(true);
    expect(await passwords.verify('cafe', hash)).toBe(false);
  });

  test('a hash that is none, or asks for the moon, is wrong, at once', async () => {
    const good = await passwords.hash('x');
    const [, , , , salt, key] = good.split('$');
    const hostile = [
      '',
      'x',
      'bcrypt$1$1$1$a$b',
      good.replace('scrypt', 'md5'),
      `${good}$x`,
      good.replace(key!, ''),
      good.replace(key!, key!.slice(0, 10)),
      ...[
        '0',
        '1',
        '3',
        '32769',
        '-1',
        '1e9',
        '0x8000',
        'NaN',
        ' 32768',
        '4294967296',
        '99999999999999999999',
      ].map((N) => `scrypt$${N}$8$3$${salt}$${key}`),
      // 8 GiB at once, and hours of work in a few megabytes.
      `scrypt$8388608$8$1$${salt}$${key}`,
      `scrypt$32768$8$1000000$${salt}$${key}`,
      `scrypt$2$1$1073741823$${salt}$${key}`,
      `scrypt$32768$0$3$${salt}$${key}`,
      `scrypt$32768$8$0$${salt}$${key}`,
    ];
    const { counting, derived } = counted();
    for (const hash of hostile) {
      expect([hash, await counting.verify('x', hash), derived.length]).toEqual([hash, false, 0]);
    }
  });

  test('the cost can be raised later, and old hashes stay good', async () => {
    // RFC 7914 section 12 has N = 16384, r = 8, p = 1: below today's setting.
    const { scryptSync } = await import('node:crypto');
    const salt = Buffer.alloc(16, 7);
    for (const [N, r, p] of [
      [16384, 8, 1],
      [65536, 8, 2],
    ] as const) {
      const key = scryptSync('x', salt, 32, { N, r, p, maxmem: 256 * 1024 * 1024 });
      const hash = ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
      expect(await passwords.verify('x', hash)).toBe(true);
      expect(await passwords.verify('y', hash)).toBe(false);
    }
  });

  test('pretending does the very work of verifying', async () => {
    const { counting, derived } = counted();
    const hash = await passwords.hash('x');
    await counting.verify('y', hash);
    await counting.simulateVerify('y');
    expect(derived).toHaveLength(2);
    expect(derived[1]).toEqual(derived[0]);
  });
});

/** Passwords whose costly work is written down instead of done. */
function counted() {
  const derived: object[] = [];
  const counting = createPasswords(systemRandom, async (_password, _salt, cost) => {
    derived.push(cost);
    return Buffer.alloc(32);
  });
  return { counting, derived };
}
