import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, createSignInServerRig } from '../../../test/signInRig.ts';
import { isValidIssuer } from './metadata.ts';
import { parseScopeNames, parseScopeText } from './scopes.ts';

afterEach(closeSignInRigs);

const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

describe('what a server publishes', () => {
  test('scopes are names, and not more of them than anybody needs', () => {
    expect(parseScopeNames(['mcp:read', 'https://x.example/.default'])).toEqual([
      'mcp:read',
      'https://x.example/.default',
    ]);
    expect(parseScopeNames(many(100))).toHaveLength(100);
    for (const value of [
      many(101),
      ['a'.repeat(4_097)],
      ['a b'],
      ['a"'],
      ['\\'],
      ['é'],
      [''],
      [7],
      'a',
      null,
    ]) {
      expect([value, parseScopeNames(value)]).toEqual([value, null]);
    }
    expect(parseScopeText('mcp:read  mcp:write')).toBe('mcp:read mcp:write');
    expect(parseScopeText(many(101).join(' '))).toBeUndefined();
  });

  test('what cannot be believed is not asked for', async () => {
    const rig = await createSignInServerRig({ guard: { metadata: { scopes_supported: many(101) } } });
    const { opened } = await rig.startSignIn('files');
    expect(new URL(opened.url).searchParams.has('scope')).toBe(false);
    const challengedScene = await createSignInServerRig({
      guard: { access: 'anonymous', metadata: { scopes_supported: ['mcp:read'] } },
    });
    const scope = many(101).join(' ');
    challengedScene.mcp.change({
      respond: () => ({
        status: 401,
        headers: {
          'www-authenticate': `Bearer scope="${scope}", resource_metadata="${challengedScene.mcp.metadataUrl}"`,
        },
      }),
    });
    const left = await challengedScene.startSignIn('files');
    expect(new URL(left.opened.url).searchParams.get('scope')).toBe('mcp:read offline_access');
  });

  test('the name of an issuer has an end', () => {
    const name = (length: number) => 'https://as.example/'.padEnd(length, 'x');
    expect([isValidIssuer(name(512)), isValidIssuer(name(513))]).toEqual([true, false]);
  });
});
