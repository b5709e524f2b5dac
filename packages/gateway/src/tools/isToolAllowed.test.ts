import { describe, expect, test } from '@jest/globals';
import { compileSettings } from '../../test/servers.ts';
import { isToolAllowed } from './policy.ts';

describe('the tools of a definition', () => {
  const allowed = (tools: Record<string, unknown> | undefined, name: string, isReadOnly = false) =>
    isToolAllowed(compileSettings(tools ? { tools } : {}), name, isReadOnly);

  test('include names what exists, exclude wins, absent means all', () => {
    expect(allowed(undefined, 'any')).toBe(true);
    expect(allowed({ include: ['get_*'] }, 'get_user')).toBe(true);
    expect(allowed({ include: ['get_*'] }, 'delete_user')).toBe(false);
    expect(allowed({ include: [] }, 'get_user')).toBe(false);
    expect(allowed({ exclude: ['delete_*'] }, 'delete_user')).toBe(false);
    expect(allowed({ exclude: ['delete_*'] }, 'get_user')).toBe(true);
    expect(allowed({ include: ['*'], exclude: ['*_user'] }, 'get_user')).toBe(false);
    expect(allowed({ include: ['g?t'] }, 'get')).toBe(true);
    expect(allowed({ include: ['g?t'] }, 'gt')).toBe(false);
    expect(allowed({ include: ['a.b'] }, 'axb')).toBe(false);
    expect(allowed({ include: ['*a*b*'] }, 'xxaxxbxx')).toBe(true);
    expect(allowed({ include: ['*a*b'] }, 'xxaxxbxx')).toBe(false);
    expect(allowed({ include: ['get'] }, 'get_user')).toBe(false);
  });

  test('with readOnlyOnly, what does not say that it only reads is hidden', () => {
    expect(allowed({ readOnlyOnly: true }, 'get', true)).toBe(true);
    expect(allowed({ readOnlyOnly: true }, 'get', false)).toBe(false);
    expect(allowed({ readOnlyOnly: true, exclude: ['get'] }, 'get', true)).toBe(false);
  });

  test('no pattern makes a long name slow', () => {
    expect(allowed({ include: [`${'*a'.repeat(50)}b`] }, 'a'.repeat(2_000))).toBe(false);
  });
});
