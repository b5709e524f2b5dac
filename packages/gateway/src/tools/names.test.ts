import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type NamedIdentity, assignToolNames, preferredToolName } from './names.ts';

const one = (serverName: string, tool: string, serverId = serverName): NamedIdentity => ({
  serverId,
  serverName,
  toolName: tool,
});
const namesOf = (...identities: NamedIdentity[]) => {
  const names = assignToolNames(identities);
  return identities.map((identity) => [...names].find(([, named]) => named === identity)?.[0]);
};

/** Found by trying: the hashes of these two begin with the same eight digits. */
const collision = [`${'x'.repeat(60)}174u`, `${'x'.repeat(60)}2mw4`] as const;

describe('the names of tools towards models', () => {
  test('a plain name is the tool, _mcp_ and the server', () => {
    expect(preferredToolName(one('github', 'create_issue'))).toBe('create_issue_mcp_github');
    expect(preferredToolName(one('a-b', 'x'.repeat(56)))).toBe(`${'x'.repeat(56)}_mcp_a-b`);
  });

  test('a long or unusual one is cut and ends in a hash of the identity, for ever the same', () => {
    // Pinned: clients and stored conversations hold these names across restarts and releases.
    expect(preferredToolName(one('a-b', 'x'.repeat(57)))).toBe(`${'x'.repeat(55)}_95af20c4`);
    expect(preferredToolName(one('files', 'read.file'))).toBe('read_file_mcp_files_7f90ed3c');
    expect(preferredToolName(one('my.files', 'read'))).toBe('read_mcp_my_files_cbd58a88');
    expect(preferredToolName(one('files', 'lire été 🙂'))).toMatch(/^lire__t_____mcp_files_[0-9a-f]{8}$/);
  });

  test('names that could be read in two ways hang on the identity', () => {
    const pairs: [NamedIdentity, NamedIdentity][] = [
      [one('b_mcp_c', 'a'), one('c', 'a_mcp_b')],
      [one('mcp_b', 'a'), one('b', 'a_mcp')],
      [one('s', 'a.b'), one('s', 'a_b')],
      [one('s', 'a.b'), one('s', 'a b')],
      // Two servers known by one name.
      [one('s', 'a', 'id1'), one('s', 'a', 'id2')],
    ];
    for (const [first, second] of pairs) {
      // Each by itself, so that no name changes because another server appears.
      if (first.serverName !== second.serverName)
        expect(preferredToolName(first)).not.toBe(preferredToolName(second));
      const [a, b] = namesOf(first, second);
      expect(a).not.toBe(b);
      // Whichever comes first.
      expect(namesOf(second, first)).toEqual([b, a]);
    }
    // A tool that imitates the hashed name of another.
    const hashed = preferredToolName(one('s', 'a.b'));
    const [tool, suffix] = [
      hashed.slice(0, hashed.indexOf('_mcp_')),
      hashed.slice(hashed.indexOf('_mcp_') + 5),
    ];
    expect(preferredToolName(one(suffix, tool))).not.toBe(hashed);
  });

  test('of two that clash, neither keeps the name', () => {
    const [a, b] = namesOf(one('s', 'a', 'id1'), one('s', 'a', 'id2'));
    expect([a, b]).not.toContain('a_mcp_s');
    const [x, y] = [one('evil', collision[0], 'evil'), one('evil', collision[1], 'evil')];
    expect(preferredToolName(x)).toBe(preferredToolName(y));
    const [first, second] = namesOf(x, y);
    expect(first).not.toBe(second);
    expect([first, second]).not.toContain(preferredToolName(x));
    for (const name of [first, second]) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test('whatever servers and tools are called, no two names are alike', () => {
    const text = fc.oneof(
      fc.string({
        unit: fc.constantFrom('a', 'b', '_', '-', '.', '_mcp_', 'mcp', '_0123abcd'),
        maxLength: 8,
        minLength: 1,
      }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
    );
    const serverName = fc.string({
      unit: fc.constantFrom('a', 'b', '_', '.', '_mcp_', '_0123abcd'),
      minLength: 1,
      maxLength: 6,
    });
    const identity = fc.record({ serverId: fc.constantFrom('s1', 's2', 's3'), serverName, toolName: text });
    const distinct = fc.uniqueArray(identity, {
      maxLength: 30,
      selector: ({ serverId, toolName: tool }) => JSON.stringify([serverId, tool]),
    });
    fc.assert(
      fc.property(distinct, (identities) => {
        const names = assignToolNames(identities);
        expect(names.size).toBe(identities.length);
        for (const name of names.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        // The order in which servers come does not matter, so every replica agrees.
        const reversed = assignToolNames([...identities].reverse());
        expect(new Set(reversed.entries())).toEqual(new Set(names.entries()));
      }),
      { numRuns: 300 },
    );
  });
});
