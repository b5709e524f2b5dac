import { describe, expect, test } from '@jest/globals';
import { registryOf, remote } from '../../test/registryRig.ts';

const elsewhere = { tenant: 'acme', name: 'one', definition: { url: 'https://acme.example/mcp' } };

describe('an override that was stored', () => {
  test('a secret that comes into the file later follows none', () => {
    const secret = { ...remote, headers: { A: '${TOKEN}' } };
    const overrides = [elsewhere];
    expect(registryOf({ one: remote }, { overrides }).urlOf('acme', 'one')).toBe('https://acme.example/mcp');
    const { registry, logged } = registryOf({ one: secret }, { overrides });
    expect(registry.find('acme', 'one')).toBeUndefined();
    expect(registry.find('other', 'one')).toBeDefined();
    expect(logged.join()).toContain('mcpServers.one.url differs from the file');
    expect(logged.join()).not.toContain('pl4nted');
  });

  test('whoever wrote it, it reads nothing of the environment', () => {
    for (const [name, definition] of [
      ['one', { headers: { A: '${TOKEN}' } }],
      ['new', { ...remote, headers: { A: '${TOKEN}' } }],
    ] as const) {
      const { registry, logged } = registryOf(
        { one: remote },
        { overrides: [{ tenant: 'acme', name, definition }] },
      );
      expect(registry.find('acme', name)).toBeUndefined();
      expect(logged.join()).toContain('headers.A must not contain environment variables');
    }
  });

  test('one of which nobody knows who decided it rests on nobody', () => {
    const { registry } = registryOf({ one: remote }, { overrides: [elsewhere] });
    expect(registry.find('acme', 'one')?.securityDecision).toEqual({ decidedBy: '', isIntact: false });
    registry.update({ overrides: [{ ...elsewhere, securedBy: 'u1' }] });
    expect(registry.find('acme', 'one')?.securityDecision).toEqual({ decidedBy: 'u1', isIntact: true });
  });

  test('it ends what was opened on the word of the operator', () => {
    const revision = (url: string) =>
      registryOf({ one: { ...remote, url, startup: false } }, { overrides: [elsewhere] }).registry.find(
        'acme',
        'one',
      )?.revision;
    expect(revision(remote.url)).not.toBe(revision(elsewhere.definition.url));
  });
});
