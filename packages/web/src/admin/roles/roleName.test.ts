import { RoleName } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { validateRoleName } from './roleName.ts';

describe('the name of a role', () => {
  test('is judged as the gateway judges it', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'Z', '0', '_', '-', ' ', '.', 'ä'),
      maxLength: 70,
    });
    fc.assert(
      fc.property(letters, (text) => {
        const name = text.trim();
        expect(validateRoleName(name) === undefined).toBe(RoleName.safeParse(name).success);
      }),
    );
    expect(['', '9a', 'a'.repeat(65), 'Team A'].map(validateRoleName)).toEqual([
      ...['missing', 'characters', 'long', undefined],
    ]);
  });
});
