import { describe, expect, test } from '@jest/globals';
import { baseDefinition, createRegistryRig } from '../../test/registryRig.ts';

const otherTenant = { tenant: 'acme', name: 'one', definition: { url: 'https://acme.example/mcp' } };

describe('an override that was stored', () => {
  test('a secret that comes into the file later follows none', () => {
    const secret = { ...baseDefinition, headers: { A: '${TOKEN}' } };
    const overrides = [otherTenant];
    expect(createRegistryRig({ one: baseDefinition }, { overrides }).findUrl('acme', 'one')).toBe(
      'https://acme.example/mcp',
    );
    const { registry, logged } = createRegistryRig({ one: secret }, { overrides });
    expect(registry.find('acme', 'one')).toBeUndefined();
    expect(registry.find('other', 'one')).toBeDefined();
    expect(logged.join()).toContain('mcpServers.one.url differs from the configuration file');
    expect(logged.join()).not.toContain('pl4nted');
  });

  test('whoever wrote it, it reads nothing of the environment', () => {
    for (const [name, definition] of [
      ['one', { headers: { A: '${TOKEN}' } }],
      ['new', { ...baseDefinition, headers: { A: '${TOKEN}' } }],
    ] as const) {
      const { registry, logged } = createRegistryRig(
        { one: baseDefinition },
        { overrides: [{ tenant: 'acme', name, definition }] },
      );
      expect(registry.find('acme', name)).toBeUndefined();
      expect(logged.join()).toContain('headers.A must not contain environment variables');
    }
  });

  test('one of which nobody knows who decided it rests on nobody', () => {
    const { registry } = createRegistryRig({ one: baseDefinition }, { overrides: [otherTenant] });
    expect(registry.find('acme', 'one')?.securityDecision).toEqual({ decidedBy: '', isIntact: false });
    registry.update({ overrides: [{ ...otherTenant, securedBy: 'u1' }] });
    expect(registry.find('acme', 'one')?.securityDecision).toEqual({ decidedBy: 'u1', isIntact: true });
  });

  test('it ends what was opened on the word of the operator', () => {
    const revision = (url: string) =>
      createRegistryRig(
        { one: { ...baseDefinition, url, startup: false } },
        { overrides: [otherTenant] },
      ).registry.find('acme', 'one')?.revision;
    expect(revision(baseDefinition.url)).not.toBe(revision(otherTenant.definition.url));
  });
});
